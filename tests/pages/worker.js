onmessage = async ({ data }) => {
  await fetch("/delay/120");
  postMessage(data);
};
