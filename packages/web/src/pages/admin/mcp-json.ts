/** Settings of MCP servers as other programs have them, such as Claude Desktop, Cursor, VS Code and Windsurf. */
import type { Json, JsonObject } from '@parlance/protocol';

export type PastedServer = {
  readonly name: string;
  /** as the settings of this server have it */
  readonly server: JsonObject;
  /** what it runs or asks, in one line */
  readonly what: string;
  /** where a value has to be filled in */
  readonly missing: readonly string[];
};

export type Pasted = {
  readonly servers: readonly PastedServer[];
  /** one sentence each */
  readonly problems: readonly string[];
};

const MAX_SERVERS = 50;

/** `taken`: names that exist. */
export function serversIn(text: string, taken: readonly string[] = []): Pasted {
  if (text.trim() === '') return { servers: [], problems: [] };
  const parsed = parse(text) ?? parse(`{${text}}`);
  if (parsed === undefined) return { servers: [], problems: ['This is not valid JSON.'] };
  const named = mapIn(parsed);
  if (named === null)
    return { servers: [], problems: ['There are no servers in it: “mcpServers” or “servers” is missing.'] };
  const servers: PastedServer[] = [];
  const problems: string[] = [];
  for (const [key, value] of Object.entries(named).slice(0, MAX_SERVERS)) {
    const name = key.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 32);
    const found = serverIn(name, value);
    if (typeof found === 'string') problems.push(`“${key}” is left out: ${found}`);
    else if (taken.includes(name) || servers.some((other) => other.name === name))
      problems.push(`“${key}” is left out: ${name} already exists.`);
    else servers.push(found);
  }
  return { servers, problems };
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const STRING = '"(?:\\\\.|[^"\\\\])*"';

/** JSON as editors have it: with comments, and commas before closing brackets. Undefined if it is something else. */
function parse(text: string): Json | undefined {
  const keepStrings = (match: string) => (match.startsWith('"') ? match : '');
  const plain = text
    .replace(new RegExp(`${STRING}|//[^\\n]*|/\\*[\\s\\S]*?\\*/`, 'g'), keepStrings)
    .replace(new RegExp(`${STRING}|,(?=\\s*[}\\]])`, 'g'), keepStrings);
  try {
    return JSON.parse(plain) as Json;
  } catch {
    return undefined;
  }
}

const isServer = (value: Json | undefined): boolean =>
  isObject(value) && ['command', 'url', 'serverUrl', 'httpUrl'].some((key) => key in value);

function mapIn(root: Json): JsonObject | null {
  if (!isObject(root)) return null;
  const inner = isObject(root.mcp) ? root.mcp : root;
  for (const key of ['mcpServers', 'servers']) if (isObject(inner[key])) return inner[key];
  if (isServer(root)) return { [typeof root.name === 'string' ? root.name : 'server']: root };
  const all = Object.values(root);
  return all.length > 0 && all.every(isServer) ? root : null;
}

/** The reason if it cannot be used. */
function serverIn(name: string, value: Json | undefined): PastedServer | string {
  if (name === '') return 'it has no name.';
  if (!isObject(value) || !isServer(value)) return 'it has neither a command nor an address.';
  if (value.disabled === true) return 'it is disabled there.';
  if (value.type === 'sse') return 'its transport (SSE) was replaced by HTTP; look for its new address.';
  const url = [value.url, value.serverUrl, value.httpUrl].find((one) => typeof one === 'string');
  if (typeof url === 'string') {
    const { given, missing } = pairsIn(value.headers);
    return {
      name,
      server: { url, headers: given },
      what: url,
      missing: [...missing, ...placeholders('the address', [url])],
    };
  }
  if (typeof value.command !== 'string') return 'its command is not a text.';
  const args = Array.isArray(value.args) ? value.args.map(String) : [];
  const { given, missing } = pairsIn(value.env);
  return {
    name,
    server: {
      command: value.command,
      args,
      env: given,
      ...(typeof value.cwd === 'string' && { cwd: value.cwd }),
    },
    what: [value.command, ...args].join(' '),
    missing: [...missing, ...placeholders('the arguments', args)],
  };
}

/** `${input:token}`, `<token>`, `YOUR_TOKEN`: values that the other program asks for, or that an example leaves open. */
const OPEN = /\$\{[^}]*\}|^<.*>$|\bYOUR[_-]|^x{3,}$/i;

const placeholders = (where: string, values: readonly string[]): string[] =>
  values.some((value) => OPEN.test(value)) ? [where] : [];

function pairsIn(value: Json | undefined): {
  readonly given: JsonObject;
  readonly missing: readonly string[];
} {
  const all = isObject(value) ? Object.entries(value).map(([name, one]) => [name, String(one)] as const) : [];
  const isOpen = ([, one]: readonly [string, string]) => one === '' || OPEN.test(one);
  return {
    given: Object.fromEntries(all.map((pair) => [pair[0], isOpen(pair) ? '' : pair[1]])),
    missing: all.filter(isOpen).map(([name]) => name),
  };
}
