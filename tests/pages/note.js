// The event log of a trial page: all that reaches it, in order, with what a test may want to know of each event.
window.log = [];
{
  const note = (event) => {
    const { type, isTrusted, detail, button, buttons, pressure, key, code, repeat, location, ctrlKey, shiftKey, altKey, metaKey, clientX, clientY, inputType, data, deltaX, deltaY } = event;
    const held = [ctrlKey && "Control", shiftKey && "Shift", altKey && "Alt", metaKey && "Meta"].filter(Boolean).join("+");
    const on = event.composedPath()[0].id || event.composedPath()[0].nodeName;
    const effect = event.dataTransfer?.dropEffect;
    log.push({ type, on, isTrusted, detail, button, buttons, pressure, key, code, repeat, location, held, x: clientX, y: clientY, inputType, data, deltaX, deltaY, effect });
  };
  for (const type of ["mousedown", "mouseup", "mousemove", "click", "dblclick", "auxclick", "contextmenu", "pointerdown", "pointermove", "pointerup", "pointercancel", "keydown", "keypress", "keyup", "beforeinput", "input", "change", "wheel", "dragstart", "drag", "dragenter", "dragover", "dragleave", "drop", "dragend", "paste"])
    addEventListener(type, note, { capture: true, passive: true });
}
