onconnect = ({ ports: [port] }) => (port.onmessage = ({ data }) => setTimeout(() => port.postMessage(1), data));
