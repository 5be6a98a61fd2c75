/** `parlance acp`: the Agent Client Protocol on standard input and output, for editors. */

import { parsedObject } from '@parlance/protocol/json-text';
import { errorMessage, notificationMessage, RPC_CODES, requestMessage } from '@parlance/server/json-rpc';
import { runStdio, type StdioProtocol } from '../connection/stdio/run.ts';
import type { LinkSocket, ServerLink } from '../connection/stdio/server-link.ts';
import { login } from './login.ts';

const HELP = `Usage: parlance acp [--url URL] [--token TOKEN] [settings of parlance serve]

Speaks the Agent Client Protocol on standard input and output, for editors.

  --url URL      a running server (PARLANCE_URL). Sessions are that server's, and turns go on there when the editor
                 is closed. Without it an agent runs in this process, with the settings of parlance serve
  --token TOKEN  a token or an API key for that server (PARLANCE_TOKEN). Without it, that of parlance login
  --login        signs in to that server, for editors that start this command in a terminal`;

export async function acp(argv: readonly string[]): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    console.log(HELP);
    return 0;
  }
  if (argv.includes('--login')) return login(argv.filter((word) => word !== '--login'));
  return runStdio(argv, (link, write) => new AcpPipe(link, write));
}

// Connects an editor to the `acp` dialect of a server. Messages pass through unchanged. After a lost
// connection, it reconnects and resumes what is unambiguous: open sessions continue after the last received
// update, and prompts carry a key, so they can be sent again. Other pending requests fail with an error.

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
  'elicitation/create',
  '$/cancel_request',
]);

/** Requests of the server that the editor answers. */
const ASKED: ReadonlySet<unknown> = new Set(['session/request_permission', 'elicitation/create']);

class AcpPipe implements StdioProtocol {
  readonly #requests = new Requests();
  readonly #sessions = new Map<string, OpenSession>();
  /** requests of the server that the editor has not answered, with their session */
  readonly #asked = new Map<string, string>();
  /** the parameters with which the editor has begun, such as its capabilities */
  #initialized: object | null = null;
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
    this.write(failed(null, RPC_CODES.parse, 'Parse error: the message is too long'));
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
    if (message.method === 'initialize') this.#initialized = message.params ?? {};
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
      const refusal = failed(message.id, RPC_CODES.method, 'Method not found');
      if (message.id !== undefined) this.#socket?.send(Buffer.from(refusal));
      return;
    }
    if (method === 'session/update') {
      const session = this.#sessions.get(params?.sessionId ?? '');
      const unseen = session ? session.unseen(message) : message;
      if (unseen) this.write(unseen === message ? text : JSON.stringify(unseen));
      return;
    }
    if (ASKED.has(method)) {
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
    if (method === 'session/close' || method === 'session/delete') this.#sessions.delete(id);
    if (method !== 'session/new' && method !== 'session/load' && method !== 'session/resume') return;
    const session = this.#sessions.get(id) ?? new OpenSession(params?.cwd ?? '/');
    session.updatePosition(message.result?._meta);
    this.#sessions.set(id, session);
  }

  #refuse({ id }: Message, reason: string): void {
    this.write(failed(id, RPC_CODES.internal, reason));
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
    if (this.#initialized) {
      const answer = await Promise.race([
        this.#requests.own(socket, 'initialize', this.#initialized),
        lost.promise,
      ]);
      if (answer === 'lost') return false;
    }
    for (const [sessionId, session] of this.#sessions) {
      session.reconnected();
      const position = { after: session.seq, keys: this.#requests.keysIn(sessionId) };
      const params = { sessionId, cwd: session.cwd, mcpServers: [], _meta: { 'parlance/resume': position } };
      const answer = await Promise.race([this.#requests.own(socket, 'session/resume', params), lost.promise]);
      if (answer === 'lost') return false;
      if (answer.error) this.#forget(sessionId, answer.error);
    }
    // Pending permissions and forms are requested again before this is answered.
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

  /** Withdraws requests that were answered by another client. */
  #withdraw(): void {
    for (const id of this.#requests.answeredElsewhere([...this.#asked.keys()])) {
      this.#asked.delete(id);
      this.write(JSON.stringify(notificationMessage('$/cancel_request', { requestId: id })));
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

// A session that the editor has open, and how much of it the editor has received.

/** Number of messages whose length is tracked, for those being streamed when the connection is lost. */
const MAX_MESSAGES = 100;

class OpenSession {
  /** last stored event that the editor has received */
  #seq = 0;
  /** characters of the latest messages that the editor has received */
  readonly #seen = new Map<string, number>();
  /** the connection is new: streamed text is sent from its beginning */
  #isNew = false;

  constructor(readonly cwd: string) {}

  get seq(): number {
    return this.#seq;
  }

  reconnected(): void {
    this.#isNew = true;
  }

  updatePosition(meta: Meta): void {
    const seq = meta?.['parlance/seq'];
    if (typeof seq === 'number') this.#seq = Math.max(this.#seq, seq);
  }

  /** The part of an update that the editor has not received; null if none. */
  unseen(message: Message): Message | null {
    const { update, _meta } = message.params ?? {};
    this.updatePosition(_meta);
    const seq = _meta?.['parlance/seq'];
    const { sessionUpdate, messageId, content } = update ?? {};
    if (messageId === undefined || content?.text === undefined || !sessionUpdate?.startsWith('agent_'))
      return message;
    const isWhole = typeof seq === 'number' || this.#isNew;
    if (typeof seq !== 'number') this.#isNew = false;
    const known = this.#seen.get(messageId) ?? 0;
    const text = isWhole ? content.text.slice(known) : content.text;
    this.#seen.delete(messageId);
    this.#seen.set(messageId, known + text.length);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > MAX_MESSAGES && oldest !== undefined) this.#seen.delete(oldest);
    if (text === content.text) return message;
    if (text === '') return null;
    return {
      ...message,
      params: { ...message.params, update: { ...update, content: { ...content, text } } },
    };
  }
}

// Pending requests of the editor and of the pipe itself.

type Pending = { readonly message: Message; readonly line: Buffer; readonly key: string | null };

/** Prefix of the pipe's own request ids, unique among clients. */
const OWN = `parlance-${crypto.randomUUID()}-`;

class Requests {
  readonly #pending = new Map<string, Pending>();
  readonly #own = new Map<string, (answer: Message) => void>();
  #askedAgain = new Set<string>();
  #settled: (() => void)[] = [];
  #count = 0;

  /** The message to send: prompts get a key, so that they can be sent again. */
  begin(message: Message, line: Buffer): Buffer {
    if (
      message.method !== 'session/prompt' ||
      typeof message.params !== 'object' ||
      message.params === null
    ) {
      this.#pending.set(keyOf(message.id), { message, line, key: null });
      return line;
    }
    const key = crypto.randomUUID();
    const { params } = message;
    const _meta = { ...params._meta, 'parlance/key': key };
    const keyed = Buffer.from(JSON.stringify({ ...message, params: { ...params, _meta } }));
    this.#pending.set(keyOf(message.id), { message, line: keyed, key });
    return keyed;
  }

  take(id: Message['id']): Pending | null {
    const pending = this.#pending.get(keyOf(id)) ?? null;
    this.#pending.delete(keyOf(id));
    this.#settle();
    return pending;
  }

  /** Drops and returns requests that the server will not answer. */
  drop(matches: (message: Message) => boolean): Message[] {
    const dropped = [...this.#pending.values()].filter(({ message }) => matches(message));
    for (const { message } of dropped) this.#pending.delete(keyOf(message.id));
    this.#settle();
    return dropped.map(({ message }) => message);
  }

  /** Resolves when no request is pending. */
  settled(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settled.push(resolve);
    this.#settle();
    return promise;
  }

  /** The pending prompts, as they were sent. */
  prompts(): Buffer[] {
    return [...this.#pending.values()].flatMap(({ key, line }) => (key === null ? [] : [line]));
  }

  keysIn(sessionId: string): string[] {
    return [...this.#pending.values()].flatMap(({ key, message }) =>
      key !== null && message.params?.sessionId === sessionId ? [key] : [],
    );
  }

  /** Sends a request of the pipe itself; its answer is not passed to the editor. */
  own(socket: LinkSocket, method: string, params: object): Promise<Message> {
    const { promise, resolve } = Promise.withResolvers<Message>();
    const id = `${OWN}${++this.#count}`;
    this.#own.set(id, resolve);
    socket.send(Buffer.from(JSON.stringify(requestMessage(id, method, params))));
    return promise;
  }

  isOwn(id: Message['id']): boolean {
    return typeof id === 'string' && id.startsWith(OWN);
  }

  end(answer: Message): void {
    const id = String(answer.id);
    this.#own.get(id)?.(answer);
    this.#own.delete(id);
  }

  askedAgain(approval: string): void {
    this.#askedAgain.add(approval);
  }

  answeredElsewhere(asked: readonly string[]): string[] {
    const again = this.#askedAgain;
    this.#askedAgain = new Set();
    return asked.filter((approval) => !again.has(approval));
  }

  #settle(): void {
    if (this.#pending.size > 0) return;
    for (const resolve of this.#settled.splice(0)) resolve();
  }
}

const keyOf = (id: Message['id']): string => JSON.stringify(id ?? null);

/** The fields of a JSON-RPC message that the pipe uses. */

type Message = {
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

type Meta = Readonly<Record<string, unknown>> | null | undefined;

type Chunk = {
  readonly sessionUpdate?: string;
  readonly messageId?: string;
  readonly content?: { readonly type?: string; readonly text?: string };
};

/** Null if it is not a JSON-RPC message; the server reports that. */
const parsed = (text: string): Message | null => parsedObject(text);

const failed = (id: Message['id'], code: number, message: string): string =>
  JSON.stringify(errorMessage(id ?? null, { code, message }));
