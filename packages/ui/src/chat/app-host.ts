/**
 * The host of an app of an MCP server (MCP Apps 2026-01-26): JSON-RPC with the page in a frame. The page is hostile. It gets what its
 * own server has sent, and everything else is asked of `parts`. Not spoken: context for the model, downloads, sampling, logging and
 * tools of the app itself; their requests are answered with −32601.
 */
import type { Json, JsonObject, Part } from '@parlance/protocol';
import type { CallState, McpApp } from '@parlance/sdk';

const VERSION = '2026-01-26';
/** In characters of JSON. */
const MAX_MESSAGE = 1_000_000;
/** Messages at once, and per second. */
const BURST = 300;
const PER_SECOND = 30;
/** Requests that wait for an answer. */
const MAX_OPEN = 10;
const MAX_TEXT = 20_000;
const TEARDOWN = 'parlance-teardown';
/** The app may save what it has before it is closed. */
const TEARDOWN_MS = 1_000;

export const MODES = ['inline', 'fullscreen'] as const;
export type Mode = (typeof MODES)[number];

/** What only the user can allow. */
export type Wish =
  | { readonly kind: 'link'; readonly url: string }
  | { readonly kind: 'message'; readonly text: string };

type HostParts = {
  readonly app: Pick<McpApp, 'tool' | 'tools'>;
  readonly input: JsonObject;
  readonly result: JsonObject;
  post(message: object): void;
  /** What the app may know of its surroundings. */
  context(): JsonObject;
  /** Calls a tool, by its name for models. Resolves with the result as MCP has it. */
  call(tool: string, input: JsonObject): Promise<JsonObject>;
  read(uri: string): Promise<JsonObject>;
  ask(wish: Wish): Promise<boolean>;
  /** Returns the mode that is shown then. */
  show(mode: Mode): Mode;
  /** The app asks to be closed. */
  ended(): void;
  /** The app must be removed: it has exceeded a limit. */
  exceeded(): void;
};

class Refused extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}
const invalid = (message: string) => new Refused(-32_602, message);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class AppHost {
  readonly #parts: HostParts;
  #isReady = false;
  #isClosed = false;
  #open = 0;
  #left = BURST;
  #at = 0;
  #torndown: () => void = () => undefined;

  constructor(parts: HostParts) {
    this.#parts = parts;
  }

  /** A message of the frame; `now` in milliseconds. Never throws. */
  receive(data: unknown, now: number): void {
    if (this.#isClosed) return;
    if (!this.#isWithinLimits(data, now)) {
      this.#isClosed = true;
      this.#parts.exceeded();
      return;
    }
    if (!isRecord(data) || data.jsonrpc !== '2.0') return;
    const { id, method } = data;
    const params = isRecord(data.params) ? data.params : {};
    if (typeof method !== 'string') {
      if (id === TEARDOWN) this.#torndown();
    } else if (typeof id === 'string' || typeof id === 'number') void this.#answer(id, method, params);
    else this.#noticed(method);
  }

  /** The surroundings have changed. */
  changed(context: JsonObject): void {
    if (this.#isReady) this.#notify('ui/notifications/host-context-changed', context);
  }

  /** Resolves when the app is ready to be removed, or after a moment. */
  async close(): Promise<void> {
    if (this.#isReady && !this.#isClosed) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#torndown = resolve;
      this.#parts.post({ jsonrpc: '2.0', id: TEARDOWN, method: 'ui/resource-teardown', params: {} });
      setTimeout(resolve, TEARDOWN_MS);
      await promise;
    }
    this.#isClosed = true;
  }

  #isWithinLimits(data: unknown, now: number): boolean {
    this.#left = Math.min(BURST, this.#left + ((now - this.#at) / 1_000) * PER_SECOND) - 1;
    this.#at = now;
    if (this.#left < 0) return false;
    try {
      return (JSON.stringify(data) ?? '').length <= MAX_MESSAGE;
    } catch {
      // Circular, or with values that JSON does not have.
      return false;
    }
  }

  #noticed(method: string): void {
    if (method === 'ui/notifications/request-teardown') this.#parts.ended();
    if (method !== 'ui/notifications/initialized' || this.#isReady) return;
    this.#isReady = true;
    const { input, result } = this.#parts;
    this.#notify('ui/notifications/tool-input', { arguments: input });
    this.#notify('ui/notifications/tool-result', result);
  }

  async #answer(id: string | number, method: string, params: Record<string, unknown>): Promise<void> {
    const answer = (body: object) => {
      if (!this.#isClosed) this.#parts.post({ jsonrpc: '2.0', id, ...body });
    };
    if (this.#open >= MAX_OPEN)
      return answer({ error: { code: -32_000, message: 'Too many requests at once.' } });
    this.#open++;
    try {
      answer({ result: await this.#result(method, params) });
    } catch (thrown) {
      const code = thrown instanceof Refused ? thrown.code : -32_000;
      answer({ error: { code, message: thrown instanceof Error ? thrown.message : 'Failed.' } });
    } finally {
      this.#open--;
    }
  }

  async #result(method: string, params: Record<string, unknown>): Promise<JsonObject> {
    const { app, call, read, ask, show, context } = this.#parts;
    switch (method) {
      case 'ui/initialize':
        return {
          protocolVersion: VERSION,
          hostInfo: { name: 'parlance', version: '1' },
          hostCapabilities: { openLinks: {}, serverTools: {}, serverResources: {}, message: { text: {} } },
          hostContext: { ...context(), toolInfo: { tool: app.tool as JsonObject } },
        };
      case 'ping':
        return {};
      case 'tools/call': {
        const { name, arguments: input = {} } = params;
        const tool = typeof name === 'string' && Object.hasOwn(app.tools, name) ? app.tools[name] : undefined;
        if (tool === undefined) throw invalid('This server has no such tool for apps.');
        if (!isRecord(input)) throw invalid('arguments must be an object.');
        return call(tool, input as JsonObject);
      }
      case 'resources/read':
        if (typeof params.uri !== 'string') throw invalid('uri must be a text.');
        return read(params.uri);
      case 'ui/open-link': {
        const url = webAddress(params.url);
        return url !== null && (await ask({ kind: 'link', url })) ? {} : { isError: true };
      }
      case 'ui/message': {
        const text = textIn(params.content).slice(0, MAX_TEXT);
        if (params.role !== 'user' || text.trim() === '') throw invalid('A message of the user has text.');
        return (await ask({ kind: 'message', text })) ? {} : { isError: true };
      }
      case 'ui/request-display-mode': {
        const mode = MODES.find((known) => known === params.mode);
        return { mode: mode ? show(mode) : (context().displayMode ?? 'inline') };
      }
      default:
        throw new Refused(-32_601, 'This host does not have this method.');
    }
  }

  #notify(method: string, params: JsonObject): void {
    this.#parts.post({ jsonrpc: '2.0', method, params });
  }
}

function webAddress(value: unknown): string | null {
  const url = typeof value === 'string' && value.length <= 4_000 ? URL.parse(value) : null;
  return url && ['https:', 'http:'].includes(url.protocol) && url.username === '' && url.password === ''
    ? url.href
    : null;
}

/** Text of one block or of several. */
const textIn = (content: unknown): string =>
  (Array.isArray(content) ? content : [content])
    .flatMap((block) => (isRecord(block) && typeof block.text === 'string' ? [block.text] : []))
    .join('\n');

/** The result of a call as MCP has it. */
export function resultOf({
  outcome,
  parts,
  data,
  app,
}: Pick<Extract<CallState, { phase: 'ended' }>, 'outcome' | 'parts' | 'data' | 'app'>): JsonObject {
  return {
    content: parts.flatMap(contentOf),
    ...(data && { structuredContent: data }),
    ...(outcome !== 'ok' && { isError: true }),
    ...(app?.meta && { _meta: app.meta }),
  };
}

function contentOf(part: Part): Json[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'image':
      return [{ type: 'image', data: part.data, mimeType: part.mime }];
    case 'file':
      return [
        {
          type: 'resource',
          resource: {
            uri: `file:///${encodeURIComponent(part.name)}`,
            mimeType: part.mime,
            blob: part.data,
          },
        },
      ];
    default:
      return [];
  }
}
