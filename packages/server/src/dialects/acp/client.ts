/** The client of one socket: its pending permission requests, and frames that are held back. */
import { isAbsolute, join } from 'node:path';
import type { ConnectionId } from '@parlance/protocol';
import type { SessionRef } from '../../core/index.ts';
import type { FrameTap, Pieces, Socket, Subscriber } from '../../http/connection.ts';
import type { Body, CallContent, Permission } from './contract.ts';
import { withdrawal } from './outbound.ts';

type PermissionBody = Extract<Body, { method: 'session/request_permission' }>;

/** Polling interval for a slow reader, in milliseconds. */
const READY_MS = 5;

/** A session that is open on this socket. */
export type OpenSession = { readonly ref: SessionRef; readonly folder: string };

export class Client implements Subscriber {
  /** by id */
  readonly sessions = new Map<string, OpenSession>();
  /** unanswered permission requests, by approval */
  readonly #pending = new Map<string, Permission>();
  /** requests that are sent after the response that opens their session, by session */
  readonly #held = new Map<string, PermissionBody[]>();

  constructor(private readonly socket: Socket) {}

  get id(): ConnectionId {
    return this.socket.id;
  }

  get open(): boolean {
    return this.socket.open;
  }

  send(text: string, frame?: object, pieces?: Pieces): void {
    const body = frame as Body | undefined;
    if (body?.method === 'session/request_permission') this.#request(body);
    else if (body?.method === '$/cancel_request') this.#withdraw(body.params.requestId, text);
    else {
      const whole = body && this.#located(body);
      if (whole && whole !== body) this.socket.sendFrame(whole);
      else this.socket.send(text, frame, pieces);
    }
  }

  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  tap(observe: FrameTap | null): void {
    this.socket.tap?.(observe);
  }

  /** Resolves when the reader has caught up, or has disconnected. */
  async ready(): Promise<void> {
    while (this.socket.open && this.socket.behind) await Bun.sleep(READY_MS);
  }

  /** Holds back permission requests of the session until `release` is called. */
  hold(session: string): void {
    this.#held.set(session, []);
    for (const [approval, { sessionId }] of this.#pending)
      if (sessionId === session) this.#pending.delete(approval);
  }

  release(session: string): void {
    const held = this.#held.get(session) ?? [];
    this.#held.delete(session);
    for (const body of held) this.#request(body);
  }

  /** The permission request that is pending here; null if there is none, or it was answered. */
  answered(approval: string): { ref: SessionRef; options: Permission['options'] } | null {
    const asked = this.#pending.get(approval);
    this.#pending.delete(approval);
    const ref = asked && this.sessions.get(asked.sessionId)?.ref;
    return ref ? { ref, options: asked.options } : null;
  }

  /** Withdraws the permission requests of the session. */
  withdrawAll(session: string): void {
    for (const [approval, { sessionId }] of this.#pending)
      if (sessionId === session) this.#withdraw(approval, JSON.stringify(withdrawal(approval)));
    this.#held.delete(session);
    this.sessions.delete(session);
  }

  #request(body: PermissionBody): void {
    const { sessionId } = body.params;
    const held = this.#held.get(sessionId);
    if (held) return void held.push(body);
    this.#pending.set(body.id, body.params);
    this.socket.sendFrame(this.#located(body));
  }

  #withdraw(approval: string, text: string): void {
    for (const [session, held] of this.#held)
      this.#held.set(
        session,
        held.filter(({ id }) => id !== approval),
      );
    if (this.#pending.delete(approval)) this.socket.send(text);
  }

  /** Editors expect absolute paths. */
  #located<Shown extends Body>(body: Shown): Shown {
    if (body.method === '$/cancel_request') return body;
    const { params } = body;
    const folder = this.sessions.get(params.sessionId)?.folder;
    const call = 'toolCall' in params ? params.toolCall : params.update;
    if (folder === undefined || !('toolCallId' in call)) return body;
    const content: readonly CallContent[] = call.content ?? [];
    const hasDiff = content.some(({ type }) => type === 'diff');
    if (!hasDiff && !('locations' in call)) return body;
    const absolute = (path: string) => (isAbsolute(path) ? path : join(folder, path));
    const whole = {
      ...call,
      ...('locations' in call && {
        locations: call.locations?.map(({ path }) => ({ path: absolute(path) })),
      }),
      ...(hasDiff && {
        content: content.map((part) =>
          part.type === 'diff' ? { ...part, path: absolute(part.path) } : part,
        ),
      }),
    };
    return {
      ...body,
      params: { ...params, ...('toolCall' in params ? { toolCall: whole } : { update: whole }) },
    };
  }
}
