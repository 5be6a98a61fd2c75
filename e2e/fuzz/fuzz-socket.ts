/** A socket that is reopened when a message closes it. */
import { WebSocket } from 'ws';
import { within } from '../../packages/server/src/testing/until.ts';
import { unknownFrame } from '../isolation/sockets.ts';
import { problemIn } from './checker.ts';
import type { Hostile } from './hostile.ts';
import type { RandomSource } from './random.ts';
import type { SocketTarget } from './targets.ts';

/** of the dialect `extension`: the client runs a tool */
const TOOL_REQUEST = 'tool_execution_request';

export class FuzzSocket {
  readonly problems: string[] = [];
  #socket: WebSocket | null = null;
  #fence: { readonly name: string; readonly passed: () => void } | null = null;
  #gone: () => void = () => undefined;

  constructor(
    private readonly address: string,
    readonly target: SocketTarget,
  ) {}

  /** Sends all messages; resolves when the last was answered or the socket was closed. */
  async send(messages: readonly Hostile[], chance: RandomSource): Promise<void> {
    const socket = await this.#open();
    const gone = Promise.withResolvers<void>();
    this.#gone = gone.resolve;
    for (const message of messages) put(socket, message, chance);
    const fence = Promise.withResolvers<void>();
    const name = `fence-${crypto.randomUUID()}`;
    this.#fence = { name, passed: fence.resolve };
    if (socket.readyState === WebSocket.OPEN)
      socket.send(JSON.stringify(unknownFrame(this.target.dialect, name)));
    else gone.resolve();
    await within(Promise.race([fence.promise, gone.promise]), `${this.target.name} no longer answers`);
  }

  close(): void {
    this.#socket?.terminate();
  }

  async #open(): Promise<WebSocket> {
    if (this.#socket?.readyState === WebSocket.OPEN) return this.#socket;
    const socket = new WebSocket(this.address + this.target.path, { skipUTF8Validation: true });
    this.#socket = socket;
    const opened = Promise.withResolvers<void>();
    socket.on('open', () => opened.resolve());
    socket.on('error', (error) => opened.reject(error));
    socket.on('close', () => this.#gone());
    socket.on('message', (data) => this.#received(String(data)));
    await opened.promise;
    if (this.target.greeting) socket.send(JSON.stringify(this.target.greeting));
    return socket;
  }

  #received(text: string): void {
    const wrong = problemIn(text);
    if (wrong) this.problems.push(`${this.target.name}: ${wrong} in ${text.slice(0, 300)}`);
    if (this.#fence && text.includes(this.#fence.name)) this.#fence.passed();
    if (text.includes(TOOL_REQUEST)) this.#answerTool(text);
  }

  /** As a browser does: otherwise each such turn holds up those behind it until the tool times out. */
  #answerTool(text: string): void {
    const { type, executionId } = JSON.parse(text) as { type?: string; executionId?: string };
    if (type !== TOOL_REQUEST) return;
    const head = { id: executionId, type: 'tool_execution_response', timestamp: Date.now(), executionId };
    const error = { type: 'browser_api', message: 'No page is open.', recoverable: false };
    this.#socket?.send(JSON.stringify({ ...head, success: false, executionTime: 0, error }));
  }
}

/** Sends a message whole, as bytes, or in fragments. */
function put(socket: WebSocket, message: Hostile, chance: RandomSource): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  const binary = typeof message !== 'string' && chance.below(2) === 0;
  if (message.length < 2 || chance.below(10) > 0) {
    socket.send(message, { binary });
    return;
  }
  const middle = 1 + chance.below(message.length - 1);
  socket.send(message.slice(0, middle), { binary, fin: false });
  socket.send(message.slice(middle), { binary, fin: true });
}
