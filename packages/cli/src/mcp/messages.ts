/** The parts of messages that the bridge reads. */

export type RequestId = string | number;

export type Message = {
  readonly id?: RequestId;
  readonly method?: string;
  readonly params?: { readonly requestId?: unknown; readonly _meta?: Readonly<Record<string, unknown>> };
  readonly result?: { readonly protocolVersion?: unknown };
};

export type Request = Message & { readonly id: RequestId; readonly method: string };

const isId = (value: unknown): value is RequestId => typeof value === 'string' || typeof value === 'number';

export const isRequest = (message: Message): message is Request =>
  isId(message.id) && typeof message.method === 'string';

/** Since 2026-07-28, every request names its revision. */
export const isModern = ({ params }: Message): boolean =>
  typeof params?._meta?.['io.modelcontextprotocol/protocolVersion'] === 'string';

/** The request that a notification cancels, or null. */
export function cancelledIn({ method, params }: Message): RequestId | null {
  const id = method === 'notifications/cancelled' ? params?.requestId : null;
  return isId(id) ? id : null;
}

/** The revision agreed on in the response to `initialize`. */
export function versionIn({ result }: Message): string | null {
  const version = result?.protocolVersion;
  return typeof version === 'string' ? version : null;
}
