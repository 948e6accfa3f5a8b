import { connect, type Socket } from 'node:net';

/** Sends bytes as they are. @returns everything that comes back until the connection ends. */
export async function sendRaw(url: string, text: string): Promise<string> {
  const socket = openRaw(url, text);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer;
}

/** Opens a connection to the server of a URL and writes to it; what comes back is for the caller to read. */
export function openRaw(url: string, text: string | Buffer): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname === 'localhost' ? '127.0.0.1' : hostname);
  socket.on('error', () => {});
  socket.write(text);
  return socket;
}
