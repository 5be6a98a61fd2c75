import { connect } from '../contestants/socket-lane.ts';

/** A hundred at a time: more concurrent handshakes would measure the listen queue. */
export async function openSockets(url: string, count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count) {
    const some = Math.min(100, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: some }, () => connect(url)))));
  }
  return sockets;
}
