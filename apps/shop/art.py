"""Pictures of the goods, drawn as SVG."""

from __future__ import annotations

from functools import lru_cache

from markupsafe import Markup

from .catalogue import COLOURS

# Each in a square of 120; {c} is the colour of the goods, {d} a darker and {l} a lighter one.
# fmt: off
DRAWINGS = {
    "tee": '<path fill="{c}" d="M44 26 22 38l9 22 10-5v43h38V55l10 5 9-22-22-12a16 16 0 0 1-32 0z"/><path fill="none" stroke="{d}" stroke-width="3" d="M44 26a16 16 0 0 0 32 0"/><path fill="{d}" opacity=".25" d="M71 98h8V55l-8 4z"/>',
    "hoodie": '<path fill="{c}" d="M45 30 24 40l-6 46 14 3 7-30v40h42V59l7 30 14-3-6-46-21-10z"/><path fill="{d}" d="M42 32q18-18 36 0 0 18-18 22-18-4-18-22z"/><path fill="{l}" d="M48 34q12-9 24 0-2 11-12 13-10-2-12-13z"/><path fill="{d}" opacity=".5" d="M47 76h26l5 15H42z"/><path stroke="{l}" stroke-width="2" d="M56 52v12M64 52v12"/>',
    "jacket": '<path fill="{c}" d="M46 24 26 34l-8 52 14 3 6-28v38h44V61l6 28 14-3-8-52-20-10q-14 8-28 0z"/><path fill="{d}" d="M46 24q14 8 28 0l3 10q-17 9-34 0z"/><path stroke="{l}" stroke-width="2.5" d="M60 38v60"/><path stroke="{d}" stroke-width="3" d="m44 72 9 6M76 72l-9 6"/>',
    "beanie": '<circle cx="60" cy="28" r="9" fill="{l}"/><path fill="{c}" d="M27 80q-2-48 33-48t33 48z"/><path stroke="{d}" stroke-width="2" opacity=".5" d="M44 40q-6 16-6 36M60 34v42M76 40q6 16 6 36"/><rect x="22" y="76" width="76" height="19" rx="7" fill="{d}"/>',
    "sneaker": '<path fill="{c}" d="M18 50q10 6 20-6l8-2 20 20q22 4 34 12 6 6 4 12H16z"/><path fill="#f7f5f0" d="M14 82h92q3 12-8 12H22q-9 0-8-12z"/><path stroke="#f7f5f0" stroke-width="3" d="m46 55 9-6M53 62l9-6M60 69l9-6"/><path fill="{d}" d="M18 50q8 5 16 0l-2 32H16z" opacity=".45"/>',
    "boot": '<path fill="{c}" d="M34 20h32l2 36q26 4 34 16 4 6 3 14H32z"/><path fill="{d}" d="M28 86h80v10q-1 5-6 5H34q-6 0-6-6z"/><path fill="{d}" d="M33 20h34v9H33z"/><path stroke="{l}" stroke-width="3" d="M54 38h14M54 47h14M56 56l14-2"/>',
    "backpack": '<path fill="none" stroke="{d}" stroke-width="5" d="M48 28q0-12 12-12t12 12"/><rect x="30" y="26" width="60" height="76" rx="20" fill="{c}"/><rect x="38" y="62" width="44" height="32" rx="7" fill="{d}"/><path stroke="{l}" stroke-width="2.5" d="M44 72h32M38 50h44"/><rect x="22" y="58" width="9" height="34" rx="4" fill="{d}"/><rect x="89" y="58" width="9" height="34" rx="4" fill="{d}"/>',
    "tote": '<path fill="none" stroke="{d}" stroke-width="4" d="M44 50V34q0-14 16-14t16 14v16"/><path fill="{c}" d="M28 46h64l6 56H22z"/><path fill="{d}" opacity=".35" d="M28 46h64l1 8H27z"/><circle cx="60" cy="76" r="10" fill="none" stroke="{l}" stroke-width="3"/>',
    "duffel": '<path fill="none" stroke="{d}" stroke-width="5" d="M42 50q0-24 18-24t18 24"/><rect x="14" y="46" width="92" height="50" rx="22" fill="{c}"/><path fill="{d}" d="M38 46h7v50h-7zM75 46h7v50h-7z"/><path stroke="{l}" stroke-width="2.5" d="M24 58h72"/>',
    "mug": '<path fill="none" stroke="{d}" stroke-width="8" d="M80 48h8q12 0 12 15T88 78h-8"/><path fill="{c}" d="M28 34h54v52q0 14-14 14H42q-14 0-14-14z"/><ellipse cx="55" cy="34" rx="27" ry="7" fill="{d}"/><ellipse cx="55" cy="35" rx="22" ry="4.5" fill="#4a2f20"/><path stroke="{l}" stroke-width="4" opacity=".6" stroke-linecap="round" d="M37 50v34"/>',
    "teapot": '<path fill="none" stroke="{d}" stroke-width="7" d="M84 54q20-6 18 16-2 14-20 12"/><path fill="{c}" d="M34 62 16 44l-4 6 16 32z"/><ellipse cx="58" cy="72" rx="33" ry="29" fill="{c}"/><ellipse cx="58" cy="47" rx="18" ry="6" fill="{d}"/><circle cx="58" cy="37" r="6" fill="{d}"/><path stroke="{l}" stroke-width="4" opacity=".5" fill="none" stroke-linecap="round" d="M36 66q2-8 9-12"/>',
    "pan": '<circle cx="48" cy="62" r="36" fill="{d}"/><circle cx="48" cy="62" r="29" fill="{c}"/><path stroke="{d}" stroke-width="11" stroke-linecap="round" d="m78 44 26-16"/><path stroke="{l}" stroke-width="3" fill="none" opacity=".6" stroke-linecap="round" d="M30 58q3-14 16-17"/>',
    "bottle": '<rect x="50" y="14" width="20" height="16" rx="4" fill="{d}"/><path fill="{c}" d="M48 30h24q12 8 12 22v42q0 10-10 10H46q-10 0-10-10V52q0-14 12-22z"/><path fill="{d}" opacity=".4" d="M36 72h48v14H36z"/><path stroke="{l}" stroke-width="4" opacity=".6" stroke-linecap="round" d="M45 48v18"/>',
    "lamp": '<path fill="{c}" d="M44 18h32l18 42H26z"/><path fill="#ffe9ad" d="M34 60h52l-8 10H42z" opacity=".8"/><path stroke="{d}" stroke-width="5" d="M60 60v36"/><path fill="{d}" d="M38 104q0-10 22-10t22 10z"/><path fill="{l}" opacity=".35" d="m48 18-14 42h10l10-42z"/>',
    "chair": '<path stroke="#8a5f3a" stroke-width="6" stroke-linecap="round" d="m36 84-6 22M84 84l6 22"/><path fill="{c}" d="M36 24q24-10 48 0l4 44H32z"/><path fill="{d}" d="M18 56q0-8 8-8t8 10v14h52V58q0-10 8-10t8 8v26q0 8-8 8H26q-8 0-8-8z"/><path fill="{l}" opacity=".4" d="M34 66h52v10H34z"/>',
    "blanket": '<path fill="{c}" d="M22 34h66q10 0 10 10v40H32q-10 0-10-10z"/><path fill="{l}" opacity=".7" d="M22 46h76v7H22zM22 62h76v7H23z"/><path fill="{d}" d="M32 84h66q0 12-10 12H32q-10 0-10-10V74q0 10 10 10z"/><path stroke="{d}" stroke-width="2.5" d="M30 96v8M40 96v8M50 96v8M60 96v8M70 96v8M80 96v8M90 94v8"/>',
    "pot": '<path fill="#4f7d4e" d="M60 60q-34-2-34-34 28 0 34 26 4-34 34-34 0 36-34 42z"/><path fill="#6da36a" d="M60 62q-6-28 2-50 16 22-2 50z"/><path fill="{c}" d="M34 66h52l-7 36H41z"/><rect x="30" y="60" width="60" height="12" rx="3" fill="{d}"/>',
    "candle": '<path fill="#f6a623" d="M60 16q12 14 0 24-12-10 0-24z"/><path stroke="#333" stroke-width="2.5" d="M60 38v12"/><rect x="34" y="48" width="52" height="54" rx="7" fill="{c}"/><ellipse cx="60" cy="50" rx="26" ry="6" fill="{l}"/><rect x="42" y="66" width="36" height="22" rx="2" fill="#fff" opacity=".85"/><path stroke="{d}" stroke-width="2.5" d="M48 74h24M52 81h16"/>',
    "notebook": '<rect x="30" y="18" width="62" height="84" rx="5" fill="{d}"/><rect x="28" y="18" width="60" height="82" rx="5" fill="{c}"/><path fill="{d}" d="M28 23q0-5 5-5h7v82h-7q-5 0-5-5z"/><path fill="#c8553d" d="M72 18h7v34l-3.5-4-3.5 4z"/><rect x="48" y="64" width="30" height="15" rx="2" fill="#fff" opacity=".8"/>',
    "headphones": '<path fill="none" stroke="{d}" stroke-width="8" d="M24 70V60q0-36 36-36t36 36v10"/><rect x="16" y="62" width="20" height="36" rx="9" fill="{c}"/><rect x="84" y="62" width="20" height="36" rx="9" fill="{c}"/><rect x="31" y="66" width="9" height="28" rx="4" fill="{l}"/><rect x="80" y="66" width="9" height="28" rx="4" fill="{l}"/>',
    "speaker": '<rect x="32" y="16" width="56" height="88" rx="12" fill="{c}"/><circle cx="60" cy="74" r="20" fill="{d}"/><circle cx="60" cy="74" r="9" fill="{l}"/><circle cx="60" cy="38" r="10" fill="{d}"/><circle cx="60" cy="38" r="4" fill="{l}"/>',
    "clock": '<circle cx="60" cy="60" r="44" fill="{c}"/><circle cx="60" cy="60" r="36" fill="#fbfaf7"/><path stroke="{d}" stroke-width="4" stroke-linecap="round" d="M60 60V36M60 60l16 10"/><path stroke="#777" stroke-width="3" d="M60 28v5M60 87v5M28 60h5M87 60h5"/><circle cx="60" cy="60" r="4" fill="{d}"/>',
    "tent": '<path fill="{c}" d="M60 24 108 94H12z"/><path fill="{d}" d="m60 24 24 70H40z"/><path fill="#2b2620" opacity=".7" d="m60 46 14 48H48z"/><path stroke="{l}" stroke-width="3" d="M60 16v12M12 94 4 100M108 94l8 6"/>',
    "lantern": '<path fill="none" stroke="{d}" stroke-width="4" d="M44 34q0-20 16-20t16 20"/><rect x="38" y="32" width="44" height="12" rx="4" fill="{c}"/><rect x="42" y="44" width="36" height="40" fill="#ffe9ad"/><path fill="#f6a623" d="M60 50q10 14 0 26-10-12 0-26z"/><path stroke="{d}" stroke-width="3" d="M42 44v40M78 44v40"/><path fill="{c}" d="M36 84h48l4 18H32z"/>',
    "sleepingbag": '<path fill="{c}" d="M42 20q18-10 36 0 12 8 10 30l-8 50q-20 8-40 0l-8-50q-2-22 10-30z"/><path fill="{l}" d="M46 28q14-8 28 0 6 10 2 22-16 6-32 0-4-12 2-22z"/><path fill="none" stroke="{d}" stroke-width="2.5" d="M36 62q24 8 48 0M38 78q22 8 44 0"/>',
    "umbrella": '<path fill="{c}" d="M12 62q4-44 48-44t48 44q-8-9-16 0-8-9-16 0-8-9-16 0-8-9-16 0-8-9-16 0-8-9-16 0z"/><path fill="{d}" opacity=".45" d="M44 62q2-34 16-44 14 10 16 44-8-9-16 0-8-9-16 0z"/><path fill="none" stroke="{d}" stroke-width="4.5" stroke-linecap="round" d="M60 60v34q0 9 8 9t8-8"/>',
}
# fmt: on


@lru_cache(maxsize=1024)
def picture(drawing: str, colour: str) -> Markup:
    """The goods of a drawing in a named colour, as an <svg> element that takes the size of its place."""
    base = COLOURS[colour]
    drawn = DRAWINGS[drawing].format(c=base, d=_mixed(base, 0, 0.32), l=_mixed(base, 255, 0.45))
    backdrop = _mixed(base, 255, 0.82)
    return Markup(
        f'<svg class="art" viewBox="0 0 120 120" aria-hidden="true"><rect width="120" height="120" fill="{backdrop}"/>'
        f'<ellipse cx="60" cy="105" rx="38" ry="5" fill="#000" opacity=".1"/>{drawn}</svg>'
    )


def _mixed(colour: str, other: int, share: float) -> str:
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + (other - part) * share):02x}" for part in parts)
