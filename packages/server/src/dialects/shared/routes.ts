/** Which dialect is spoken where on the default door. */
import type { Connection, Socket } from '../../http/connection.ts';
import type { DialectName } from './dialect.ts';
import { detectProtocol, withoutToken } from './protocol-detection.ts';

/** Opens a socket in a dialect. */
export type Speak = (dialect: DialectName, socket: Socket) => Connection;

/** What a socket at that path becomes; null where none is served. Channels have a place of their own: `/app/{key}`. */
export function routeOf(
  path: string,
  hasToken: boolean,
  speak: Speak,
): ((socket: Socket) => Connection) | null {
  switch (path) {
    case '/':
      return (socket) => detectProtocol((dialect) => speak(dialect, socket));
    case '/ws':
      return hasToken
        ? (socket) => speak('conversations', socket)
        : (socket) => withoutToken(socket, speak('broadcast', socket));
    case '/extension':
    case '/broadcast':
    case '/agentloop':
    case '/conversations':
      return (socket) => speak(path.slice(1) as DialectName, socket);
    default:
      return null;
  }
}
