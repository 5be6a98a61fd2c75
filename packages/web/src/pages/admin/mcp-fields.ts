/** A stored MCP server, and the fields of its dialog. Values of variables and headers are never shown. */
import type { Json, JsonObject } from '@parlance/protocol';
import { linesIn } from './section.tsx';

export type McpKind = 'command' | 'url';

export type McpFields = {
  readonly kind: McpKind;
  readonly command: string;
  /** one per line */
  readonly args: string;
  readonly url: string;
  /** variables or headers: one `NAME=value` per line */
  readonly pairs: string;
  readonly trusted: boolean;
  /** each user signs in, instead of one person for all */
  readonly perUser: boolean;
};

export const NEW_SERVER: McpFields = {
  kind: 'command',
  command: '',
  args: '',
  url: '',
  pairs: '',
  trusted: false,
  perUser: false,
};

export function fieldsOf(server: JsonObject): McpFields {
  const kind = 'url' in server ? 'url' : 'command';
  const args = Array.isArray(server.args) ? server.args.map(String) : [];
  return {
    kind,
    command: String(server.command ?? ''),
    args: args.join('\n'),
    url: String(server.url ?? ''),
    pairs: namesIn(server, kind)
      .map((name) => `${name}=`)
      .join('\n'),
    trusted: server.trusted === true,
    perUser: server.signIn === 'user',
  };
}

/** Keeps what `before` has besides these fields, and stored values of variables that have none here. */
export function serverFrom({ kind, ...fields }: McpFields, before: JsonObject = {}): JsonObject {
  const { trusted } = fields;
  const isSameKind = kind in before;
  const stored = isSameKind ? namesIn(before, kind) : [];
  const pairs = Object.fromEntries(
    linesIn(fields.pairs).map((line) => {
      const [name = '', ...rest] = line.split('=');
      const value = rest.join('=').trim();
      // Null keeps the stored value.
      return [name.trim(), value === '' && stored.includes(name.trim()) ? null : value] satisfies [
        string,
        Json,
      ];
    }),
  );
  const who: JsonObject =
    fields.perUser || (isSameKind && 'signIn' in before)
      ? { signIn: fields.perUser ? 'user' : 'server' }
      : {};
  const changed: JsonObject =
    kind === 'url'
      ? { url: fields.url.trim(), headers: pairs, ...who }
      : { command: fields.command.trim(), args: linesIn(fields.args), env: pairs };
  return { ...(isSameKind ? before : {}), ...changed, trusted };
}

const namesIn = (server: JsonObject, kind: McpKind): string[] =>
  Object.keys(objectIn(kind === 'url' ? server.headers : server.env));

/** Empty if the value is not an object. */
export const objectIn = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
