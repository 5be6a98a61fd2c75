/** In: converts the messages of one socket to commands. */

import { createHash } from 'node:crypto';
import {
  type ApprovalId,
  asFault,
  type CommandInput,
  type DurableEvent,
  Fault,
  type FaultCode,
  type Part,
  type QuestionId,
  type SessionEvent,
  type TurnId,
  textPart,
} from '@parlance/protocol';
import type { Caller, SessionRef } from '../../core/index.ts';
import type { Connection, Socket } from '../../http/connection.ts';
import { reported, socketIds } from '../kit/dialect.ts';
import {
  errorMessage,
  errorOf,
  messageOf,
  methodNamed,
  type Params,
  paramsOf,
  RPC_CODES,
  RpcFault,
  type RpcId,
  resultMessage,
} from '../kit/json-rpc.ts';
import { formAnswers } from '../kit/question-forms.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { Client, type ClientRequest, type Context } from './client.ts';
import {
  type Block,
  CancelRequest,
  FormResult,
  Initialize,
  ListSessions,
  NewSession,
  OneSession,
  OpenSession,
  PermissionResult,
  Position,
  Prompt as PromptParams,
  SetConfig,
  SetMode,
} from './contract.ts';
import { questionMessage, type State, updateBody } from './outbound.ts';

const PROTOCOL_VERSION = 1;

export function open(socket: Socket, ctx: Context, hub: SubscriptionHub<State>): Connection {
  const connection = new AcpConnection(socket, ctx, hub);
  return {
    receive: (frame) => connection.receive(frame),
    onInvalidFrame: (reason) =>
      socket.sendFrame(errorMessage(null, { code: RPC_CODES.parse, message: `Parse error: ${reason}` })),
    onRateLimited: (fault) => socket.sendFrame(faultFrame(null, fault)),
    closed: () => connection.closed(),
    draining: () => undefined,
  };
}

type Answer = object | ((id: RpcId) => void);

class AcpConnection {
  readonly #client: Client;
  /** by request id */
  readonly #prompts = new Map<RpcId, Prompt>();

  constructor(
    private readonly socket: Socket,
    private readonly ctx: Context,
    private readonly hub: SubscriptionHub<State>,
  ) {
    this.#client = new Client(socket, ctx, hub);
  }

  async receive(frame: unknown): Promise<void> {
    const message = messageOf(frame);
    switch (message.kind) {
      case 'invalid':
        return this.socket.sendFrame(
          errorMessage(message.id, {
            code: RPC_CODES.request,
            message: `Invalid request: ${message.reason}`,
          }),
        );
      case 'request':
        return this.#request(message.id, message.method, message.params);
      case 'notification':
        return this.#quietly(() => this.#notified(message.method, message.params));
      case 'response':
        return this.#quietly(() => this.#answered(message.id, message.result));
    }
  }

  closed(): void {
    for (const prompt of this.#prompts.values()) prompt.leave();
    this.hub.leave(this.#client);
  }

  async #request(id: RpcId, method: string, params: Params): Promise<void> {
    try {
      if (this.#prompts.has(id))
        throw new RpcFault(
          RPC_CODES.request,
          'Invalid request: the id belongs to a prompt that is not answered yet',
        );
      const handle = methodNamed(this.#methods, method);
      if (!handle) throw new RpcFault(RPC_CODES.method, `Method not found: ${method.slice(0, 100)}`);
      const answer = await handle(params);
      if (typeof answer === 'function') answer(id);
      else this.socket.sendFrame(resultMessage(id, answer));
    } catch (thrown) {
      this.#failed(id, thrown);
    }
  }

  #failed(id: RpcId, thrown: unknown): void {
    this.socket.sendFrame(faultFrame(id, reported(thrown, this.ctx, socketIds(this.socket))));
  }

  /** Notifications and responses get no answer. */
  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      reported(thrown, this.ctx, socketIds(this.socket));
    }
  }

  readonly #methods: Readonly<Record<string, (params: Params) => Promise<Answer>>> = {
    initialize: async (params) => {
      const { clientCapabilities } = paramsOf(Initialize, params);
      this.#client.hasForms = clientCapabilities?.elicitation?.form != null;
      return initialized(this.ctx.about, clientCapabilities?.auth?.terminal === true);
    },
    authenticate: async () => {
      void this.#client.caller;
      return {};
    },
    'session/new': async (params) => {
      const { caller } = this.#client;
      const ref = await this.#client.create(caller, paramsOf(NewSession, params).cwd);
      return this.#opened(ref, { sessionId: ref.id });
    },
    'session/load': async (params) => {
      const ref = await this.#client.find(paramsOf(OpenSession, params).sessionId);
      await this.#client.load(ref);
      return this.#opened(ref);
    },
    'session/resume': async (params) => {
      const { sessionId, _meta } = paramsOf(OpenSession, params);
      const ref = await this.#client.find(sessionId);
      const position = Position.safeParse(_meta?.['parlance/resume']);
      if (position.success) await this.#client.load(ref, position.data);
      else await this.#client.resume(ref);
      return this.#opened(ref);
    },
    'session/list': async (params) => {
      const { caller } = this.#client;
      return this.#client.list(caller, paramsOf(ListSessions, params));
    },
    'session/close': async (params) => {
      const { id } = await this.#client.find(paramsOf(OneSession, params).sessionId);
      this.#client.endSession(id);
      return {};
    },
    'session/delete': async (params) => {
      const { caller } = this.#client;
      const ref = await this.#client.find(paramsOf(OneSession, params).sessionId);
      this.#client.endSession(ref.id);
      await this.ctx.engine.erase(ref, caller);
      return {};
    },
    'session/set_config_option': async (params) => {
      const { caller } = this.#client;
      const { sessionId, configId, value } = paramsOf(SetConfig, params);
      const ref = await this.#client.find(sessionId);
      const { configOptions } = await this.#client.view(ref);
      const option = configOptions.find(({ id }) => id === configId);
      if (!option?.options.some((one) => one.value === value))
        throw new RpcFault(RPC_CODES.params, `value: not one of the option ${configId}`);
      const changes = { [configId === 'mode' ? 'approval' : configId]: value };
      await this.ctx.engine.send(ref, { type: 'session.configure', ...changes }, caller);
      return { configOptions: (await this.#client.view(ref)).configOptions };
    },
    'session/set_mode': async (params) => {
      const { caller } = this.#client;
      const { sessionId, modeId } = paramsOf(SetMode, params);
      const ref = await this.#client.find(sessionId);
      await this.ctx.engine.send(ref, { type: 'session.configure', approval: modeId }, caller);
      return {};
    },
    'session/prompt': async (params) => {
      const { caller } = this.#client;
      const { sessionId, prompt, _meta } = paramsOf(PromptParams, params);
      const ref = await this.#client.find(sessionId);
      if (!this.hub.isSubscribed(ref, this.#client)) {
        await this.#client.resume(ref);
        this.#client.release(ref.id);
      }
      const key = _meta?.['parlance/key'] ?? null;
      const { hasForms } = this.#client;
      const submitted = await submit(this.ctx, caller, { ref, parts: prompt.map(partOf), key, hasForms });
      return (id) => this.#await(id, submitted);
    },
  };

  /** Does not wait for the prompt: the next message may be `session/cancel`. */
  #await(id: RpcId, prompt: Prompt): void {
    // The client has disconnected, or has used the id twice before the first prompt was accepted.
    if (!this.socket.open || this.#prompts.has(id)) prompt.leave();
    else this.#prompts.set(id, prompt);
    prompt.ended
      .then(
        (stopReason) => this.socket.sendFrame(resultMessage(id, { stopReason })),
        (thrown: unknown) => this.#failed(id, thrown),
      )
      .finally(() => {
        if (this.#prompts.get(id) === prompt) this.#prompts.delete(id);
      });
  }

  /** Permission requests are sent after the response, because the client does not know the session before. */
  async #opened(ref: SessionRef, about: object = {}): Promise<Answer> {
    const answer = { ...about, ...(await this.#client.view(ref)) };
    return (id) => {
      this.socket.sendFrame(resultMessage(id, answer));
      this.#client.release(ref.id);
    };
  }

  async #notified(method: string, params: Params): Promise<void> {
    if (method === 'session/cancel') {
      const ref = await this.#client.find(paramsOf(OneSession, params).sessionId);
      const own = [...this.#prompts.values()].filter((prompt) => prompt.ref.id === ref.id);
      if (own.length === 0) await this.ctx.engine.send(ref, { type: 'turn.cancel' }, this.#client.caller);
      for (const prompt of own) await this.#cancel(prompt);
    } else if (method === '$/cancel_request') {
      const prompt = this.#prompts.get(paramsOf(CancelRequest, params).requestId);
      if (prompt) await this.#cancel(prompt);
    }
  }

  async #cancel({ ref, turn }: Prompt): Promise<void> {
    await this.#quietly(async () => {
      await this.ctx.engine.send(ref, { type: 'turn.cancel', turn }, this.#client.caller);
    });
  }

  /** The first answer wins, in any dialect. */
  async #answered(id: RpcId, result: unknown): Promise<void> {
    const answered = typeof id === 'string' ? this.#client.answered(id) : null;
    if (!answered) return;
    const { ref, request } = answered;
    if (request.method === 'elicitation/create')
      await this.#answerForm(ref, request.id as QuestionId, result);
    else if (result !== undefined) await this.#permitted(ref, request, result);
  }

  async #permitted(ref: SessionRef, { id, params }: PermissionRequest, result: unknown): Promise<void> {
    const parsed = PermissionResult.safeParse(result);
    const chosen =
      parsed.success && parsed.data.outcome.outcome === 'selected' ? parsed.data.outcome.optionId : '';
    // Anything but an option that was offered is a denial.
    const answer = params.options.find(({ optionId }) => optionId === chosen)?.optionId ?? 'deny';
    const command = { type: 'approval.answer', approval: id as ApprovalId, answer } as const;
    await this.#send(ref, command);
  }

  /** A form that was closed, has failed or is not valid: the question is shown as a message, and the next prompt answers it. */
  async #answerForm(ref: SessionRef, question: QuestionId, result: unknown): Promise<void> {
    const { questions } = await this.ctx.engine.snapshot(ref);
    const asked = questions.find((open) => open.question === question);
    if (!asked) return;
    const { success, data } = FormResult.safeParse(result);
    if (success && data.action === 'decline')
      return this.#send(ref, { type: 'question.answer', question, declined: true });
    const read = success && data.action === 'accept' ? formAnswers(asked, data.content ?? {}) : null;
    if (read && !('problem' in read)) {
      const given = read.outcome === 'declined' ? { declined: true } : { answers: read.answers };
      return this.#send(ref, { type: 'question.answer', question, ...given });
    }
    const words = questionMessage({ ...asked, id: question, ...(read && { problem: read.problem }) });
    this.socket.sendFrame(updateBody(ref.id, words));
    for (const prompt of this.#prompts.values()) if (prompt.ref.id === ref.id) prompt.pause();
  }

  async #send(ref: SessionRef, command: CommandInput): Promise<void> {
    await this.ctx.engine.send(ref, command, this.#client.caller).catch((thrown: unknown) => {
      if (!LATE.has(asFault(thrown).code)) throw thrown;
    });
  }
}

type PermissionRequest = Extract<ClientRequest, { method: 'session/request_permission' }>;

/** It was answered elsewhere, or its turn has ended. */
const LATE: ReadonlySet<FaultCode> = new Set(['no_approval', 'not_found', 'no_turn']);

/** The editor starts its command with these arguments in a terminal. */
const SIGN_IN = {
  type: 'terminal',
  id: 'login',
  name: 'Sign in',
  description: 'Asks for name and password, and stores an API key for the server',
  args: ['--login'],
} as const;

const initialized = ({ auth, version }: Context['about'], hasTerminal: boolean): object => ({
  protocolVersion: PROTOCOL_VERSION,
  agentInfo: { name: 'parlance', title: 'Parlance', version },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: false, embeddedContext: true },
    mcpCapabilities: { http: false, sse: false },
    sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
  },
  authMethods: hasTerminal && auth === 'required' ? [SIGN_IN] : [],
});

// Faults as JSON-RPC errors.

/** Others are internal errors. */
const FAULTS: Partial<Record<FaultCode, number>> = {
  invalid: RPC_CODES.params,
  empty: RPC_CODES.params,
  too_large: RPC_CODES.params,
  tool_invalid: RPC_CODES.params,
  unauthenticated: -32_000,
  not_found: -32_002,
};

const faultFrame = (id: RpcId, fault: Fault) => errorMessage(id, errorOf(fault, FAULTS, RPC_CODES.internal));

// In: converts the blocks of a prompt to the parts of an input.

/** The model receives links and embedded resources with name and URI. */
function partOf(block: Block): Part {
  switch (block.type) {
    case 'text':
      return textPart(block.text);
    case 'image':
      return { type: 'image', mime: block.mimeType, data: block.data };
    case 'resource_link':
      return textPart(`[${block.name}](${block.uri})`);
    case 'resource': {
      const { resource } = block;
      const name = nameOf(resource.uri);
      if ('text' in resource) return textPart(`[${name}](${resource.uri}):\n${resource.text}`);
      const mime = resource.mimeType ?? 'application/octet-stream';
      return mime.startsWith('image/')
        ? { type: 'image', mime, data: resource.blob }
        : { type: 'file', name: resource.uri, mime, data: resource.blob };
    }
  }
}

/** The last segment of the URI. */
const nameOf = (uri: string): string =>
  uri
    .replace(/[?#].*$/s, '')
    .split('/')
    .findLast(Boolean) ?? uri;

// In: prompts, from their input to the end of the turn.

type StopReason = 'end_turn' | 'cancelled' | 'max_tokens' | 'max_turn_requests' | 'refusal';

/** A prompt with an unfinished turn. */
type Prompt = {
  readonly ref: SessionRef;
  readonly turn: TurnId;
  /** rejects if the turn fails */
  readonly ended: Promise<StopReason>;
  /** Answers the prompt, because its turn waits for the next one. */
  pause(): void;
  /** Stops waiting. The turn continues. */
  leave(): void;
};

type Submission = {
  readonly ref: SessionRef;
  readonly parts: Part[];
  readonly key: string | null;
  /** a question does not end the prompt: the client answers its form */
  readonly hasForms: boolean;
};

/** Resolves when the input is accepted. The same key in the same session is the same turn. */
async function submit(
  ctx: Context,
  caller: Caller,
  { ref, parts, key, hasForms }: Submission,
): Promise<Prompt> {
  const turn = (key === null ? ctx.newId() : turnOfKey(ref, key)) as TurnId;
  const { promise, resolve, reject } = Promise.withResolvers<StopReason>();
  promise.catch(() => undefined);
  let stop: DurableEvent<'step.ended'>['stop'] = 'done';
  /** the turn of the prompt, or the one whose question it answers */
  let followed = turn;
  const sink = (event: SessionEvent): void => {
    if (event.type === 'input.joined' && event.own === turn) followed = event.turn;
    if (!('turn' in event) || event.turn !== followed) return;
    if (event.type === 'step.ended') stop = event.stop;
    else if (event.type === 'turn.ended') resolve(event.paused ? 'max_turn_requests' : REASONS[stop]);
    // The next prompt answers it.
    else if (event.type === 'question.repeated' || (event.type === 'question.asked' && !hasForms))
      resolve('end_turn');
    else if (event.type === 'turn.cancelled' || event.type === 'input.cancelled') resolve('cancelled');
    else if (event.type === 'turn.failed') {
      const { code } = event.fault;
      reject(Fault.from({ ...event.fault, code: code === 'not_found' ? 'internal' : code }));
    }
  };
  let watch = await ctx.engine.watch(ref, sink);
  const by = { ...caller, turn, ...(key !== null && { key }) };
  try {
    const { events } = await ctx.engine.send(
      ref,
      { type: 'input.submit', parts, answers: true, project: 'ask' },
      by,
    );
    if (events.length === 0) {
      // It was accepted before, and its turn may have ended in the meantime.
      watch.stop();
      watch = await ctx.engine.watch(ref, sink, { after: 0 });
    }
  } catch (thrown) {
    watch.stop();
    throw thrown;
  }
  const ended = promise.finally(() => watch.stop());
  ended.catch(() => undefined);
  return { ref, turn, ended, pause: () => resolve('end_turn'), leave: () => watch.stop() };
}

const REASONS = {
  done: 'end_turn',
  calls: 'end_turn',
  length: 'max_tokens',
  refused: 'refusal',
} as const satisfies Record<DurableEvent<'step.ended'>['stop'], StopReason>;

/** The same id for the same key, and different from that of any other turn. */
function turnOfKey({ owner, id }: SessionRef, key: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(['acp', owner, id, key]))
    .digest('hex');
  const at = (from: number, to: number) => digest.slice(from, to);
  return `${at(0, 8)}-${at(8, 12)}-4${at(13, 16)}-8${at(17, 20)}-${at(20, 32)}`;
}
