/** A frame as a command for a terminal: `wscat` for sockets, `curl` for the rest. */
import type { ShellCommand } from '../../entries/rows.ts';
import { curl } from '../welcome/snippet.ts';
import { type Command, wscatCommand } from './wscat.ts';

/** Null if no command can send it. */
export function shellCommand(frame: Command): ShellCommand | null {
  const isSocket = frame.dialect?.transport === 'socket';
  const text = isSocket ? wscatCommand(frame) : curlCommand(frame);
  return text === null ? null : { tool: isSocket ? 'wscat' : 'curl', text };
}

/** The token comes from the shell variable PARLANCE_TOKEN. Without a text, it follows the events of the session. */
export function curlCommand({ origin, dialect, session, text, tokenRequired }: Command): string | null {
  if (!dialect || text?.includes('\0') === true) return null;
  const needsToken = tokenRequired || dialect.needsToken;
  const at = `${origin}/v1/sessions/${encodeURIComponent(session)}`;
  if (text === null) {
    if (dialect.transport !== 'commands') return null;
    return curl('', { method: 'GET', address: `${at}/events`, needsToken, stream: true }).code;
  }
  const frame = objectIn(text);
  if (frame === null) return null;
  if (dialect.transport === 'commands')
    return curl('', { method: 'POST', address: `${at}/commands`, needsToken, body: frame }).code;
  const { method = 'GET', path, body } = frame;
  // As in the playground: the token is for this server alone.
  if (typeof method !== 'string' || typeof path !== 'string' || !/^\/(?![/\\])/.test(path)) return null;
  return curl('', { method, address: origin + path, needsToken, body: isObject(body) ? body : undefined })
    .code;
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function objectIn(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
