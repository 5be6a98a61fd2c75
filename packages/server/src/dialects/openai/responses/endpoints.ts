/** What the endpoints of responses do: create, retrieve, cancel and delete them, whole or as a stream. */
import type { DurableEvent, Fault, Principal } from '@parlance/protocol';
import type { z } from 'zod';
import type { EventStream } from '../../../http/connection.ts';
import { type Accepted, type ChatRequest, invalid, RequestFault } from '../../kit/chat-request.ts';
import { importable } from '../../kit/history.ts';
import { TOO_SLOW } from '../../kit/request-turn.ts';
import {
  type AuthenticatedRequest,
  untilGone,
  untilStarted,
  type VendorContext,
} from '../../kit/vendor-requests.ts';
import {
  type CompactRequest,
  errorBody,
  type PageQuery,
  type ResponseRequest,
  type StreamQuery,
} from '../contract.ts';
import { compactedContent, inputConversation } from '../input.ts';
import { type NumberedEvent, ResponseFollower, Restarts } from './follower.ts';
import {
  DELETED,
  findSegment,
  inputItem,
  itemList,
  type ResponseObject,
  type Segment,
  segmentAt,
  usageObject,
  userMessage,
} from './objects.ts';
import { chatRequestOf, type Incoming, previousSegment, resolved } from './request.ts';

type Answering = {
  readonly chat: ChatRequest;
  readonly accepted: Accepted;
  readonly segment: Segment;
};

export async function createResponse(
  ctx: VendorContext,
  { request, ...incoming }: AuthenticatedRequest,
  body: ResponseRequest,
): Promise<Response | ResponseObject> {
  const answering = await beginResponse(ctx, { headers: request.headers, ...incoming }, body);
  if (body.stream)
    return streamed(ctx, request, created(ctx, answering, await opened(ctx, request, answering)));
  const follower = await ResponseFollower.open(ctx, answering.segment);
  if (body.background) {
    const { response } = follower;
    void follower.done.then(() => remember(ctx, answering, follower));
    return response;
  }
  await untilGone(request, follower.done, () => abandon(ctx, answering, follower));
  if (follower.fault) throw follower.fault;
  await remember(ctx, answering, follower);
  return follower.response;
}

/** Starts the turn of a response, or continues one. */
export async function beginResponse(
  ctx: VendorContext,
  incoming: Incoming,
  body: ResponseRequest,
): Promise<Answering> {
  const chat = await chatRequestOf(ctx, incoming, body);
  const accepted = await ctx.sessions.accept(chat, incoming.progress);
  const segment = await segmentAt(ctx, accepted.ref, accepted.start);
  if (!segment) throw new Error('an accepted request has no segment');
  return { chat, accepted, segment };
}

/**
 * The client disconnected: cancels the turn that its request started or continued, unless it runs in the
 * background.
 */
function abandon(
  ctx: VendorContext,
  { accepted, chat, segment }: Answering,
  follower: ResponseFollower,
): void {
  if (follower.isOver || segment.head.data.background) return;
  if (accepted.again || ctx.engine.draining) return void follower.abandon();
  void follower.cancel(ctx, chat.principal).finally(() => follower.abandon());
}

async function remember(
  { sessions }: VendorContext,
  { accepted, chat }: Answering,
  follower: ResponseFollower,
): Promise<void> {
  if (!follower.fault) await sessions.remember(accepted, chat, follower.items);
}

// Stored responses

export type StoredResponse = { readonly principal: Principal; readonly id: string };

async function found(ctx: VendorContext, { principal, id }: StoredResponse): Promise<Segment> {
  const segment = await findSegment(ctx, principal, id);
  if (segment) return segment;
  throw new RequestFault('not_found', `Response with id '${id.slice(0, 200)}' not found.`, {
    param: 'response_id',
  });
}

export async function retrieveResponse(
  ctx: VendorContext,
  { request, ...stored }: StoredResponse & { readonly request: Request },
  { stream, starting_after: after = -1 }: z.output<typeof StreamQuery>,
): Promise<Response | ResponseObject> {
  const segment = await found(ctx, stored);
  if (stream === 'true')
    return streamed(ctx, request, resumed(ctx, { segment, after, principal: stored.principal }));
  const follower = await ResponseFollower.open(ctx, segment);
  follower.stop();
  return follower.response;
}

export async function deleteResponse(ctx: VendorContext, stored: StoredResponse) {
  const { ref } = await found(ctx, stored);
  const { principal, id } = stored;
  const command = { type: 'session.label', labels: { [DELETED]: id } } as const;
  await ctx.engine.send(ref, command, { principal, dialect: 'openai' });
  return { id, object: 'response.deleted' as const, deleted: true as const };
}

/** A response that has ended is not changed. */
export async function cancelResponse(ctx: VendorContext, stored: StoredResponse): Promise<ResponseObject> {
  const follower = await ResponseFollower.open(ctx, await found(ctx, stored));
  if (!follower.isOver) {
    await follower.cancel(ctx, stored.principal);
    await follower.done;
  }
  return follower.response;
}

export async function listInputItems(ctx: VendorContext, stored: StoredResponse, query: PageQuery) {
  const segment = await found(ctx, stored);
  const events = [...(await resultsBefore(ctx, segment)), ...segment.requestEvents];
  const items = events.flatMap((event) => inputItem(event) ?? []);
  const { order, after, limit } = query;
  const ordered = order === 'asc' ? items : items.toReversed();
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0) throw invalid('after', `There is no item ${after}.`);
  return itemList(ordered.slice(from, from + limit), from + limit < ordered.length);
}

const MAX_RESULTS = 300;

/** Results in the same request as a message are stored in one append with it. */
async function resultsBefore(
  { engine }: VendorContext,
  { ref, start, head }: Segment,
): Promise<DurableEvent[]> {
  const { results = [] } = head.data;
  if (start.type !== 'input.accepted' || results.length === 0) return [];
  const first = Math.max(0, start.seq - 1 - MAX_RESULTS);
  const events = await engine.events(ref, first, start.seq - 1 - first);
  return events.filter(
    ({ at, ...event }) => at === start.at && event.type === 'tool.ended' && results.includes(event.call),
  );
}

// Streams. Their producers are created outside of the handlers: a closure there would keep the request in memory until
// the stream ends.

const streamed = (
  ctx: VendorContext,
  request: Request,
  produce: (stream: EventStream) => Promise<void>,
): Response =>
  ctx.stream(request, { dialect: 'openai', encode: (frame) => encodeEvent(frame as NumberedEvent), produce });

const encodeEvent = (event: NumberedEvent): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

const LAST = new Set(['response.completed', 'response.failed', 'response.incomplete']);

const created =
  (ctx: VendorContext, answering: Answering, open: OpenResponse) =>
  async (stream: EventStream): Promise<void> => {
    const events = responseStream(stream);
    await sendEvents(ctx, answering, events, open);
    await events.ready();
  };

/** A response whose events are kept until a stream takes them. */
type OpenResponse = {
  readonly follower: ResponseFollower;
  /** resolves with the first event after `response.in_progress` */
  readonly started: Promise<void>;
  /** whether there is no output yet */
  readonly isEmpty: boolean;
  sendTo(send: (event: NumberedEvent) => void): void;
};

const FIRST = new Set(['response.created', 'response.in_progress']);

async function openResponse(
  ctx: VendorContext,
  { accepted, chat, segment }: Answering,
): Promise<OpenResponse> {
  const kept: NumberedEvent[] = [];
  const started = Promise.withResolvers<void>();
  let isEmpty = true;
  let take = (event: NumberedEvent): void => void kept.push(event);
  const restarts = await Restarts.of(ctx, { ref: accepted.ref, principal: chat.principal });
  const follower = await ResponseFollower.open(ctx, segment, {
    emit: (event) => {
      if (!FIRST.has(event.type)) started.resolve();
      isEmpty &&= FIRST.has(event.type) || LAST.has(event.type);
      take(event);
    },
    restarts,
  });
  return {
    follower,
    started: started.promise,
    get isEmpty() {
      return isEmpty;
    },
    sendTo(send) {
      for (const event of kept.splice(0)) send(event);
      take = send;
    },
  };
}

/** Waits for the first output, as long as a stream may: many clients take `response.failed` for an empty answer. */
async function opened(ctx: VendorContext, request: Request, answering: Answering): Promise<OpenResponse> {
  const open = await openResponse(ctx, answering);
  const { follower } = open;
  if (answering.segment.head.data.background) return open;
  await untilGone(request, untilStarted(open.started), () => abandon(ctx, answering, follower));
  if (follower.fault && follower.fault.code !== 'cancelled' && open.isEmpty) throw follower.fault;
  return open;
}

/** Sends the events of a response that the request creates. Returns the reason of a failure, or null. */
export async function sendEvents(
  ctx: VendorContext,
  answering: Answering,
  events: Pick<ResponseStream, 'send' | 'closed' | 'gone'>,
  open?: OpenResponse,
): Promise<Fault | null> {
  let last: NumberedEvent | null = null;
  const { follower, sendTo } = open ?? (await openResponse(ctx, answering));
  sendTo((event) => {
    // The conversation is stored before the client can continue it.
    if (LAST.has(event.type)) last = event;
    else events.send(event);
  });
  void events.gone.then(() => abandon(ctx, answering, follower));
  const isBackground = answering.segment.head.data.background;
  const done = follower.done.then(() => remember(ctx, answering, follower));
  await Promise.race([done, events.closed, ...(isBackground ? [events.gone] : [])]);
  if (last) events.send(last);
  return follower.fault;
}

const OPEN = ': open\n\n';

/** The past and future events after that number. A disconnect does not end the turn. */
const resumed =
  (
    ctx: VendorContext,
    {
      segment,
      after,
      principal,
    }: { readonly segment: Segment; readonly after: number; readonly principal: Principal },
  ) =>
  async (stream: EventStream): Promise<void> => {
    const events = responseStream(stream, after);
    // The response headers are sent with the first bytes, and the next event may take long.
    stream.send(OPEN);
    const restarts = await Restarts.of(ctx, { ref: segment.ref, principal });
    const follower = await ResponseFollower.open(ctx, segment, {
      emit: (event) => {
        if (event.sequence_number > after) events.send(event);
      },
      restarts,
      after,
    });
    await Promise.race([follower.done, events.gone, events.closed]);
    follower.stop();
    await events.ready();
  };

export type ResponseStream = {
  send(event: NumberedEvent): void;
  /** resolves when the server has closed the stream, or its reader was too slow; later events are dropped */
  readonly closed: Promise<void>;
  /** `ready` of the stream, or immediately if its reader was too slow */
  ready(): Promise<void>;
  /** resolves when the client has disconnected, unless the stream was closed before */
  readonly gone: Promise<void>;
};

/** `after` is the number of the last event that the client has. */
function responseStream(stream: EventStream, after = -1): ResponseStream {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  let isClosed = false;
  let isBehind = false;
  let number = Math.max(0, after);
  const close = (fault: Fault, last: number) => {
    isClosed = true;
    stream.send(encodeEvent(closingEvent(fault, last)));
    resolve();
  };
  stream.onClosing((fault) => close(fault, number));
  void stream.lost().then((dropped) => {
    if (isClosed) return;
    if (!dropped) return gone.resolve();
    isBehind = true;
    const [first] = dropped as NumberedEvent[];
    close(TOO_SLOW, first ? first.sequence_number - 1 : number);
  });
  return {
    closed,
    gone: gone.promise,
    ready: async () => (isBehind ? undefined : stream.ready()),
    send(event) {
      if (isClosed) return;
      number = event.sequence_number;
      stream.send(encodeEvent(event), event);
    },
  };
}

/**
 * The last event of a stream that the server closes while the response continues. It has the number of the event
 * before it, so that a client that resumes misses none.
 */
function closingEvent(fault: Fault, sequence_number: number): NumberedEvent {
  const { code, message } = errorBody(fault).error;
  return { type: 'error', sequence_number, code, message, param: null };
}

// `POST /responses/compact`: a shorter input that stands for a conversation. Nothing is stored.

/** The messages of the user, and a summary of everything else. */
export async function compactConversation(
  ctx: VendorContext,
  { principal, signal }: { readonly principal: Principal; readonly signal: AbortSignal },
  body: z.output<typeof CompactRequest>,
) {
  const { agent } = ctx.models.choose(body.model);
  const input = inputConversation(await resolved(ctx, principal, body.input ?? undefined));
  const { previous_response_id: previous } = body;
  const before = previous == null ? [] : await conversationOf(ctx, principal, previous);
  const items = importable([...before, ...input.items]);
  if (items.length === 0) throw invalid('input', 'There is nothing to compact.');
  const instructions = [body.instructions, input.instructions].filter(Boolean).join('\n\n');
  const said = instructions === '' ? [] : [{ type: 'system' as const, text: instructions }];
  const conversation = { agent, items: [...said, ...items] };
  const { text, usage } = await ctx.engine.summariseConversation(principal, conversation, signal);
  return {
    id: `resp_${ctx.newId()}`,
    object: 'response.compaction' as const,
    created_at: Math.floor(ctx.now() / 1000),
    output: [
      ...items.flatMap((item) =>
        item.type === 'user' ? [userMessage(`msg_${ctx.newId()}`, item.parts)] : [],
      ),
      { id: `cmp_${ctx.newId()}`, type: 'compaction' as const, encrypted_content: compactedContent(text) },
    ],
    usage: usageObject(usage),
  };
}

/** The conversation up to the end of a response. */
async function conversationOf(ctx: VendorContext, principal: Principal, previous: string) {
  const segment = await previousSegment(ctx, { principal, previous });
  const follower = await ResponseFollower.open(ctx, segment);
  follower.stop();
  if (!follower.isOver) throw invalid('previous_response_id', 'The response is not complete.');
  return (await ctx.engine.conversation(segment.ref, follower.endSeq)).items;
}
