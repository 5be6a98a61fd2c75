/** The fields of a JSON-RPC message that the pipe uses. */

export type Message = {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: {
    readonly sessionId?: string;
    readonly cwd?: string;
    readonly update?: Chunk & Readonly<Record<string, unknown>>;
    readonly _meta?: Meta;
  };
  readonly result?: { readonly sessionId?: string; readonly _meta?: Meta };
  readonly error?: { readonly code: number; readonly message: string };
};

export type Meta = Readonly<Record<string, unknown>> | null | undefined;

export type Chunk = {
  readonly sessionUpdate?: string;
  readonly messageId?: string;
  readonly content?: { readonly type?: string; readonly text?: string };
};

/** Null if it is not a JSON-RPC message; the server reports that. */
export function parsed(text: string): Message | null {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** −32603 of JSON-RPC. */
export const INTERNAL = -32603;
export const PARSE_ERROR = -32700;
export const NO_METHOD = -32601;

export const failed = (id: Message['id'], code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message } });
