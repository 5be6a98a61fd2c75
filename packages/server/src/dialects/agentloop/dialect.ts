/**
 * `agentloop`: terminal and web front ends of a coding agent. One socket is one conversation: the session that
 * `?session=` or a `previousResponseId` names, or else a new one. The contract has no cancel and no ping; a second
 * input supersedes the turn that is running. Agents that change hands are told as system messages.
 */
import {
  type Ask,
  type DurableEvent,
  Fault,
  type FaultCode,
  isObject,
  type SessionEvent,
} from '@parlance/protocol';
import type { SessionRef, SessionSnapshot } from '../../core/api/index.ts';
import type { Connection, Socket } from '../../http/connection.ts';
import { type Calls, firstSeen, NO_CALLS, trackCalls } from '../shared/calls.ts';
import {
  type DialectContext,
  defineDialect,
  type Frame,
  NONE,
  reported,
  type Stepped,
} from '../shared/dialect.ts';
import { HTTP_STATUS } from '../shared/http-status.ts';
import { nthId } from '../shared/ids.ts';
import { type Inputs, NO_INPUTS, trackInputs } from '../shared/inputs.ts';
import { streamRestartWords } from '../shared/restart-words.ts';
import { retryField, retryWords } from '../shared/retry.ts';
import type { SubscriptionHub } from '../shared/subscription-hub.ts';
import { ClientFrame, KNOWN_TYPES, partsOf } from './frames.ts';
import {
  answerId,
  answerText,
  assistantItem,
  callItem,
  contextCompacted,
  contextInfo,
  type Item,
  outputItems,
  reasoningItem,
  systemItem,
  userItem,
} from './items.ts';

export const agentloop = defineDialect<State>({
  name: 'agentloop',
  projection: { start, step, attach, pieces: { key: pieceOf, text: pieceText, with: withText } },
  open,
});

// In

function open(socket: Socket, ctx: DialectContext, hub: SubscriptionHub<State>): Connection {
  const { engine } = ctx;
  const { principal } = socket;
  const caller = principal && { principal, dialect: 'agentloop', via: socket.id };
  let session: SessionRef | null = null;

  const fail = (message: string, details: Details = null) =>
    socket.send({ id: ctx.newId(), type: 'error', payload: { message, details } });

  /** The socket's conversation, which begins with the first input where no other was named. */
  async function conversation(previous?: string | null): Promise<SessionRef> {
    if (!principal) throw new Fault('unauthenticated', 'A token is required.');
    const continued = previous ? await engine.find(principal, sessionOfResponse(previous)) : null;
    if (continued && session) hub.leave(socket);
    session = continued ?? session ?? (await engine.resolve(principal, ctx.newId()));
    await hub.join(session, socket);
    return session;
  }

  async function perform(frame: ClientFrame): Promise<void> {
    if (!caller) throw new Fault('unauthenticated', 'A token is required.');
    switch (frame.type) {
      case 'user_input': {
        const parts = partsOf(frame.payload.input);
        const ref = await conversation(frame.payload.previousResponseId);
        await engine.send(ref, { type: 'input.submit', parts, mode: 'supersede' }, caller);
        return;
      }
      case 'approval_response': {
        if (!session) throw new Fault('no_approval', 'No pending approval request');
        const { review, customDenyMessage } = frame.payload;
        if (review === 'explain') await engine.send(session, { type: 'approval.explain' }, caller);
        else
          await engine.send(session, { ...ANSWERS[review], reason: customDenyMessage ?? undefined }, caller);
        return;
      }
      case 'get_context_info': {
        const ref = session ?? (await engine.resolve(caller.principal, ctx.newId()));
        const payload = contextInfo(session?.id, await engine.contextUse(ref));
        socket.send({ id: ctx.newId(), type: 'context_info', payload });
        return;
      }
      case 'manual_compact':
        if (!session) throw new Fault('nothing_to_compact', 'There is nothing to compact yet.');
        await engine.send(session, { type: 'context.compact' }, caller);
    }
  }

  return {
    async opened() {
      if (!principal) return socket.close(1008, 'A token is required.');
      if (socket.session === null) return;
      session = await engine.resolve(principal, socket.session);
      await hub.join(session, socket);
    },
    async receive(raw) {
      if (!isObject(raw) || typeof raw.id !== 'string' || typeof raw.type !== 'string') {
        return fail('Invalid message format');
      }
      if (!KNOWN_TYPES.has(raw.type)) return fail(`Unknown message type: ${raw.type.slice(0, 100)}`);
      const frame = ClientFrame.safeParse(raw);
      if (!frame.success) {
        const issue = frame.error.issues[0];
        return fail('Invalid message format', {
          error: `${issue?.path.join('.')}: ${issue?.message}`,
          code: 400,
        });
      }
      try {
        await perform(frame.data);
      } catch (thrown) {
        const fault = reported(thrown, ctx, { connection: socket.id, session: session?.id });
        fail(...refusal(frame.data.type, fault));
      }
    },
    onInvalidFrame: (reason) => fail('Invalid message format', { error: reason, code: 400 }),
    onRateLimited: (fault) => fail('Rate limit exceeded', detailsOf(fault)),
    closed: () => hub.leave(socket),
    draining: () => fail('The server is shutting down', null),
  };
}

const ANSWERS = {
  yes: { type: 'approval.answer', answer: 'once' },
  always: { type: 'approval.answer', answer: 'always' },
  'no-continue': { type: 'approval.answer', answer: 'deny' },
  'no-exit': { type: 'approval.answer', answer: 'deny', exit: true },
} as const;

/** A response id names its session, so that a client can go on from it on a new socket. */
const responseId = ({ session, turn }: DurableEvent<'turn.ended' | 'turn.cancelled'>): string =>
  `resp_${session}.${turn}`;
const sessionOfResponse = (id: string): string => id.slice('resp_'.length, Math.max(0, id.lastIndexOf('.')));

// Out

type Body =
  | { id: string; type: 'response_item'; payload: Item }
  | { id: string; type: 'loading_state'; payload: { loading: boolean } }
  | {
      id: string;
      type: 'approval_request';
      payload: { command: string[]; applyPatch?: { patch: string }; requestId: string };
    }
  | { id: string; type: 'agent_finished'; payload: { responseId: string; sessionId: string } }
  | { id: string; type: 'context_info'; payload: ReturnType<typeof contextInfo> }
  | { id: string; type: 'context_compacted'; payload: ReturnType<typeof contextCompacted> }
  | {
      id: string;
      type: 'error';
      payload: { message: string; details: Details };
    };

/** `retryAfter` is in seconds. */
type Details = { error: string; code: number; retryAfter?: number } | null;

type State = {
  readonly calls: Calls;
  readonly inputs: Inputs;
  /** what the waiting approval shows, to show it again after an explanation */
  readonly ask: Ask | null;
  /** the texts of the turn that are complete, for a socket that joins in the middle of it */
  readonly texts: readonly { readonly block: string; readonly text: string }[];
  /** how many of them belong to steps that are complete: the others are void if the step begins anew */
  readonly settled: number;
};

function start(): State {
  return { calls: NO_CALLS, inputs: NO_INPUTS, ask: null, texts: [], settled: 0 };
}

/** On the path of a token. */
const piece = (id: string, block: string, text: string): Body => ({
  id,
  type: 'response_item',
  payload: assistantItem(block, text),
});

/** Pieces of one answer have its id, and clients append them. */
function pieceOf(body: Body): string | null {
  return body.type === 'response_item' ? answerId(body.payload) : null;
}

function pieceText(body: Body): string {
  return body.type === 'response_item' ? answerText(body.payload) : '';
}

function withText(body: Body, text: string): Body {
  return body.type === 'response_item' ? { ...body, payload: assistantItem(body.payload.id, text) } : body;
}

function step(before: State, event: SessionEvent): Stepped<State, Body> {
  if (event.type === 'text.delta') return [before, [{ body: piece(event.id, event.block, event.text) }]];
  const calls = trackCalls(before.calls, event);
  const inputs = trackInputs(before.inputs, event);
  const state = calls === before.calls && inputs === before.inputs ? before : { ...before, calls, inputs };
  const { id } = event;
  switch (event.type) {
    case 'turn.started': {
      const input = before.inputs[event.input];
      const begun: Frame<Body> = { body: loading(id, true) };
      const anew = { ...state, texts: [], settled: 0 };
      if (!input) return [anew, [begun]];
      const item = userItem(event.input, input.parts);
      // The socket that sent it shows it already.
      const shown: Frame<Body> = {
        body: { id: nthId(id, 1), type: 'response_item', payload: item },
        except: input.via,
      };
      return [anew, [begun, shown]];
    }
    case 'turn.resumed':
      return [{ ...state, texts: state.texts.slice(0, state.settled) }, say(loading(id, true))];
    case 'step.restarted': {
      const words = streamRestartWords(event);
      const texts = state.texts.slice(0, state.settled);
      return [
        { ...state, texts },
        words === null ? NONE : say(...items(id, [systemItem(nthId(id, 1), `⚠️ ${words}`)])),
      ];
    }
    case 'text.ended': {
      const { block, text } = event;
      return [{ ...state, texts: [...state.texts, { block, text }] }, NONE];
    }
    case 'step.ended':
      return [{ ...state, settled: state.texts.length }, NONE];
    case 'reasoning.ended':
      return [state, event.text === '' ? NONE : say(...items(id, [reasoningItem(event)]))];
    case 'approval.requested':
      return [
        { ...state, ask: event.ask },
        say(
          ...replacing(nthId(id, 1), nthId(id, 2), event.ask),
          approvalRequest(id, event.approval, event.ask),
        ),
      ];
    case 'approval.explained': {
      const explained = items(id, [assistantItem(nthId(id, 2), event.text)]);
      if (!state.ask) return [state, say(...explained)];
      return [state, say(...explained, approvalRequest(nthId(id, 1), event.approval, state.ask))];
    }
    case 'approval.answered':
      return [{ ...state, ask: null }, NONE];
    case 'tool.started': {
      const call = firstSeen(before.calls, event);
      const item = call && callItem(event.call, call);
      return [state, item ? say(...items(id, [item])) : NONE];
    }
    case 'tool.ended': {
      const unseen = firstSeen(before.calls, event);
      const item = unseen && callItem(event.call, unseen);
      const output = outputItems(event, state.calls[event.call]);
      return [{ ...state, ask: null }, say(...items(id, item ? [item, ...output] : output))];
    }
    case 'agent.changed': {
      const text = `${event.from.name} hands over to ${event.to.name}: ${event.reason}`;
      return [state, say(...items(id, [systemItem(nthId(id, 1), text)]))];
    }
    case 'session.erased':
      return [start(), say(...items(id, [systemItem(nthId(id, 1), 'The conversation was deleted.')]))];
    case 'session.cleared':
      return [state, say(...items(id, [systemItem(nthId(id, 1), 'The conversation was cleared.')]))];
    case 'session.rewound': {
      const text = 'An earlier message was replaced: the conversation goes on from before it.';
      return [state, say(...items(id, [systemItem(nthId(id, 1), text)]))];
    }
    case 'turn.ended':
      return [state, say(...finished(event), ...use(nthId(id, 2), event))];
    case 'turn.cancelled': {
      const over = event.reason === 'superseded' ? [loading(id, false)] : finished(event);
      return [state, say(...over, ...use(nthId(id, 2), event))];
    }
    case 'turn.failed': {
      const { code, message } = event.fault;
      const details = { error: message, code: FAULTS[code] };
      const warning = items(id, [systemItem(nthId(id, 3), `⚠️ ${message}`)]);
      const error: Body = {
        id: nthId(id, 1),
        type: 'error',
        payload: { message: FAILED.user_input, details },
      };
      return [state, say(...warning, error, loading(nthId(id, 2), false), ...use(nthId(id, 4), event))];
    }
    case 'context.compacted':
      return [state, say({ id, type: 'context_compacted', payload: contextCompacted(event) })];
    case 'session.created':
    case 'session.renamed':
    case 'session.archived':
    case 'session.labelled':
    case 'session.configured':
    case 'call.deferred':
    case 'grant.revoked':
    case 'input.accepted':
    case 'call.requested':
    case 'reasoning.delta':
    case 'call.progress':
      return [state, NONE];
  }
}

/** What the socket is sent of the turn's texts, joined by their ids, is the whole of them. */
function attach({ texts }: State, { turn, open: block, approval }: SessionSnapshot): Body[] {
  if (!turn) return [];
  const bodies = [loading(turn, true)];
  bodies.push(...texts.map((ended, n) => piece(nthId(turn, n + 3), ended.block, ended.text)));
  if (block?.kind === 'text') bodies.push(piece(nthId(turn, 1), block.block, block.text));
  if (!approval) return bodies;
  const last = texts.length + 3;
  return [
    ...bodies,
    ...replacing(nthId(turn, last), nthId(turn, last + 1), approval.ask),
    approvalRequest(nthId(turn, 2), approval.approval, approval.ask),
  ];
}

const say = (...bodies: Body[]): Frame<Body>[] => bodies.map((body) => ({ body }));

const items = (id: string, payloads: Item[]): Body[] =>
  payloads.map((payload, n) => ({ id: nthId(id, n), type: 'response_item', payload }));

const loading = (id: string, isLoading: boolean): Body => ({
  id,
  type: 'loading_state',
  payload: { loading: isLoading },
});

const approvalRequest = (id: string, requestId: string, { command, patch }: Ask): Body => ({
  id,
  type: 'approval_request',
  payload: { command, ...(patch === undefined ? {} : { applyPatch: { patch } }), requestId },
});

/** Deployed clients show nothing of a patch but its text, which does not say that a file exists. */
function replacing(id: string, itemId: string, { replaces = [] }: Ask): Body[] {
  if (replaces.length === 0) return [];
  const files = replaces.length === 1 ? 'file' : 'files';
  return items(id, [
    systemItem(itemId, `⚠️ This patch replaces the existing ${files} ${replaces.join(', ')}.`),
  ]);
}

const finished = (event: DurableEvent<'turn.ended' | 'turn.cancelled'>): Body[] => [
  loading(event.id, false),
  {
    id: nthId(event.id, 1),
    type: 'agent_finished',
    payload: { responseId: responseId(event), sessionId: event.session },
  },
];

/** However the turn ended. Turns stored by earlier versions have it only if they ended well. */
const use = (
  id: string,
  { session, context }: DurableEvent<'turn.ended' | 'turn.cancelled' | 'turn.failed'>,
): Body[] => (context ? [{ id, type: 'context_info', payload: contextInfo(session, context) }] : []);

// Faults

const FAILED: Record<ClientFrame['type'], string> = {
  user_input: 'Failed to process user input',
  approval_response: 'Failed to process approval response',
  get_context_info: 'Failed to get context info',
  manual_compact: 'Failed to compact context',
};

/** The number that stands in `details.code`: what the same failure would be over HTTP. */
const FAULTS: Record<FaultCode, number> = HTTP_STATUS;

const detailsOf = (fault: Fault): Details => ({
  error: retryWords(fault),
  code: FAULTS[fault.code],
  ...retryField('retryAfter', fault),
});

function refusal(type: ClientFrame['type'], fault: Fault): [string, Details] {
  return [fault.code === 'no_approval' ? 'No pending approval request' : FAILED[type], detailsOf(fault)];
}
