/**
 * Connects an editor to the `acp` dialect of a server. Messages pass through unchanged. After a lost
 * connection, it reconnects and resumes what is unambiguous: open sessions continue after the last received
 * update, and prompts carry a key, so they can be sent again. Other pending requests fail with an error.
 */

import type { StdioProtocol } from '../stdio/run.ts';
import type { LinkSocket, ServerLink } from '../stdio/server-link.ts';
import { failed, INTERNAL, type Message, NO_METHOD, PARSE_ERROR, parsed } from './message.ts';
import { OpenSession } from './open-session.ts';
import { Requests } from './requests.ts';

/** Delays before reconnecting, in milliseconds; then the server counts as gone. */
const PAUSES_MS = [0, 100, 250, 500, 1_000, 2_000, 4_000];
/** Maximum number of messages waiting for the connection. */
const MAX_WAITING = 1_000;

/**
 * What the server may send unrequested. Editors offer more to an agent, such as reading files and running commands: a
 * server never uses it, and one that was taken over must not.
 */
const PASSED: ReadonlySet<unknown> = new Set([
  'session/update',
  'session/request_permission',
  '$/cancel_request',
]);

export class AcpPipe implements StdioProtocol {
  readonly #requests = new Requests();
  readonly #sessions = new Map<string, OpenSession>();
  /** permission requests that the editor has not answered, with their session */
  readonly #asked = new Map<string, string>();
  #socket: LinkSocket | null = null;
  /** messages from the editor during a reconnect; null otherwise */
  #waiting: Buffer[] | null = null;

  constructor(
    private readonly link: ServerLink,
    private readonly write: (text: string) => void,
  ) {}

  receive(line: Buffer): void {
    const message = parsed(String(line));
    if (this.#waiting) {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push(line);
      else if (message?.method && message.id !== undefined)
        this.#refuse(message, 'The server cannot be reached.');
      return;
    }
    this.#socket ??= this.#connect();
    this.#socket.send(message ? this.#outgoing(message, line) : line);
  }

  onTooLong(): void {
    this.write(failed(null, PARSE_ERROR, 'Parse error: the message is too long'));
  }

  settled(): Promise<void> {
    return this.#requests.settled();
  }

  #outgoing(message: Message, line: Buffer): Buffer {
    if (message.method === undefined) {
      this.#asked.delete(String(message.id));
      return line;
    }
    if (message.id === undefined) return line;
    const { sessionId, cwd } = message.params ?? {};
    if (message.method === 'session/load' && sessionId !== undefined)
      this.#sessions.set(sessionId, new OpenSession(cwd ?? '/'));
    return this.#requests.begin(message, line);
  }

  #connect(): LinkSocket {
    const socket: LinkSocket = this.link.connect('/acp', {
      message: (text) => this.#incoming(text),
      closed: (reason) => {
        if (this.#socket === socket) this.#lost(reason);
      },
    });
    return socket;
  }

  #incoming(frame: string): void {
    const message = parsed(frame);
    if (!message) return;
    // A line break would end the message for the editor.
    const text = /[\r\n]/.test(frame) ? JSON.stringify(message) : frame;
    const { method, params } = message;
    if (method !== undefined && !PASSED.has(method)) {
      const refusal = failed(message.id, NO_METHOD, 'Method not found');
      if (message.id !== undefined) this.#socket?.send(Buffer.from(refusal));
      return;
    }
    if (method === 'session/update') {
      const session = this.#sessions.get(params?.sessionId ?? '');
      const unseen = session ? session.unseen(message) : message;
      if (unseen) this.write(unseen === message ? text : JSON.stringify(unseen));
      return;
    }
    if (method === 'session/request_permission') {
      const id = String(message.id);
      if (this.#asked.has(id)) this.#requests.askedAgain(id);
      else this.write(text);
      this.#asked.set(id, params?.sessionId ?? '');
      return;
    }
    if (method === '$/cancel_request')
      this.#asked.delete(String((params as { requestId?: unknown })?.requestId));
    const answer = method === undefined ? message : null;
    if (answer && this.#requests.isOwn(answer.id)) this.#requests.end(answer);
    else {
      if (answer) this.#answered(answer);
      this.write(text);
    }
  }

  #answered(message: Message): void {
    const request = this.#requests.take(message.id);
    if (!request) return;
    const { method, params } = request.message;
    const id = message.result?.sessionId ?? params?.sessionId ?? '';
    if (message.error) {
      if (method === 'session/load') this.#sessions.delete(id);
      return;
    }
    if (method === 'session/close') this.#sessions.delete(id);
    if (method !== 'session/new' && method !== 'session/load' && method !== 'session/resume') return;
    const session = this.#sessions.get(id) ?? new OpenSession(params?.cwd ?? '/');
    session.updatePosition(message.result?._meta);
    this.#sessions.set(id, session);
  }

  #refuse({ id }: Message, reason: string): void {
    this.write(failed(id, INTERNAL, reason));
  }

  #lost(reason: string): void {
    this.#socket = null;
    for (const message of this.#requests.drop(({ method }) => method !== 'session/prompt')) {
      if (message.method === 'session/load') this.#sessions.delete(message.params?.sessionId ?? '');
      this.#refuse(message, reason);
    }
    if (this.#sessions.size === 0) this.#gone(reason);
    else {
      this.#waiting ??= [];
      void this.#reconnect(reason);
    }
  }

  #gone(reason: string): void {
    for (const message of this.#requests.drop(() => true)) this.#refuse(message, reason);
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const line of waiting) {
      const message = parsed(String(line));
      if (message?.method && message.id !== undefined) this.#refuse(message, reason);
    }
  }

  async #reconnect(reason: string): Promise<void> {
    for (const pause of PAUSES_MS) {
      await Bun.sleep(pause);
      if (await this.#resumed()) return;
    }
    this.#gone(`${reason} Turns continue on the server: load the session when it is back.`);
  }

  /** False if the server cannot be reached. */
  async #resumed(): Promise<boolean> {
    const lost = Promise.withResolvers<'lost'>();
    const socket = this.link.connect('/acp', {
      message: (text) => this.#incoming(text),
      closed: (reason) => {
        if (this.#socket === socket) this.#lost(reason);
        else lost.resolve('lost');
      },
    });
    for (const [sessionId, session] of this.#sessions) {
      session.reconnected();
      const position = { after: session.seq, keys: this.#requests.keysIn(sessionId) };
      const params = { sessionId, cwd: session.cwd, mcpServers: [], _meta: { 'parlance/resume': position } };
      const answer = await Promise.race([this.#requests.own(socket, 'session/resume', params), lost.promise]);
      if (answer === 'lost') return false;
      if (answer.error) this.#forget(sessionId, answer.error);
    }
    // Pending permissions are requested again before this is answered.
    const fence = await Promise.race([
      this.#requests.own(socket, 'authenticate', { methodId: '' }),
      lost.promise,
    ]);
    if (fence === 'lost') return false;
    this.#withdraw();
    this.#continueTurns(socket);
    return true;
  }

  #forget(sessionId: string, { code, message }: NonNullable<Message['error']>): void {
    this.#sessions.delete(sessionId);
    for (const { id } of this.#requests.drop(({ params }) => params?.sessionId === sessionId))
      this.write(failed(id, code, message));
  }

  /** Withdraws permission requests that were answered by another client. */
  #withdraw(): void {
    for (const id of this.#requests.answeredElsewhere([...this.#asked.keys()])) {
      this.#asked.delete(id);
      this.write(JSON.stringify({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: id } }));
    }
  }

  #continueTurns(socket: LinkSocket): void {
    this.#socket = socket;
    for (const line of this.#requests.prompts()) socket.send(line);
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const line of waiting) this.receive(line);
  }
}
