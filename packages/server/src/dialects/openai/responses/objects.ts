/** The objects of the API: output items, input items, and the response. */
import {
  type DurableEvent,
  type Link,
  type Part,
  type Principal,
  type PromptPart,
  type TurnOptions,
  textOf,
  turnOptionsOf,
  type Usage,
  withoutPages,
} from '@parlance/protocol';
import { labelKey, type SessionRef } from '../../../core/index.ts';
import type { FollowTarget } from '../../kit/chat-request.ts';
import { latestEvents } from '../../kit/replay.ts';
import { followTarget } from '../../kit/request-keys.ts';
import {
  IDLE,
  projection,
  type RequestedApproval,
  type RequestedCall,
  type State,
  type TurnUpdate,
} from '../../kit/turn-updates.ts';
import type { VendorContext } from '../../kit/vendor-requests.ts';
import { RequestData } from '../contract.ts';

// Output items

export const SERVER_LABEL = 'parlance' as const;

type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** Whether the agent goes on after the message, or has answered with it. */
export type MessagePhase = 'commentary' | 'final_answer';

export const messageItem = (
  id: string,
  text: string | null,
  { status, phase }: { readonly status: ItemStatus; readonly phase?: MessagePhase | undefined },
) => ({
  id,
  type: 'message' as const,
  status,
  role: 'assistant' as const,
  content: text === null ? [] : [textContent(text)],
  ...(phase && { phase }),
});

export const textContent = (text: string) => ({
  type: 'output_text' as const,
  annotations: [] as never[],
  text,
});

export const reasoningItem = (id: string, text: string | null) => ({
  id,
  type: 'reasoning' as const,
  summary: text === null ? [] : [summaryText(text)],
});

export const summaryText = (text: string) => ({ type: 'summary_text' as const, text });

export type NamedCall = Pick<RequestedCall, 'call' | 'tool'> & { readonly id: string };

export const functionCallItem = ({ id, call, tool }: NamedCall, written: string, status: ItemStatus) => ({
  id,
  type: 'function_call' as const,
  status,
  call_id: call as string,
  name: tool,
  arguments: written,
});

/** A call of the agent's own tool; without a result while it runs. */
export const mcpCallItem = (
  { id, tool, input }: Omit<RequestedCall, 'call'> & { readonly id: string },
  result: Pick<Extract<TurnUpdate, { kind: 'result' }>, 'outcome' | 'parts'> | null,
) => ({
  id,
  type: 'mcp_call' as const,
  server_label: SERVER_LABEL,
  name: tool,
  arguments: JSON.stringify(input),
  approval_request_id: null,
  status: result
    ? result.outcome === 'ok'
      ? ('completed' as const)
      : ('failed' as const)
    : ('in_progress' as const),
  output: result?.outcome === 'ok' ? textOf(result.parts) : null,
  error:
    result && result.outcome !== 'ok'
      ? { type: 'mcp_tool_execution_error' as const, content: textOf(result.parts) }
      : null,
});

export const approvalItem = ({ approval, tool, input }: RequestedApproval) => ({
  id: approval as string,
  type: 'mcp_approval_request' as const,
  server_label: SERVER_LABEL,
  name: tool,
  arguments: JSON.stringify(input),
});

export type OutputItem =
  | ReturnType<typeof messageItem>
  | ReturnType<typeof reasoningItem>
  | ReturnType<typeof functionCallItem>
  | ReturnType<typeof mcpCallItem>
  | ReturnType<typeof approvalItem>;

// Input items, from the events that a request caused

export const userMessage = (id: string, parts: readonly Part[]) => ({
  id,
  type: 'message' as const,
  role: 'user' as const,
  status: 'completed' as const,
  content: withoutPages(parts).map(contentOf),
});

export const systemMessage = (id: string, text: string) => ({
  id,
  type: 'message' as const,
  role: 'system' as const,
  status: 'completed' as const,
  content: [{ type: 'input_text' as const, text }],
});

export const callOutputItem = (
  id: string,
  { call, parts }: { readonly call: string; readonly parts: readonly Part[] },
) => ({
  id,
  type: 'function_call_output' as const,
  call_id: call,
  status: 'completed' as const,
  output: textOf(parts),
});

export const messageId = (session: string, id: string): string => itemId('msg', { session, id });

function contentOf(part: PromptPart) {
  switch (part.type) {
    case 'text':
      return part.link ? linkContent(part.link) : { type: 'input_text' as const, text: part.text };
    case 'image':
      return {
        type: 'input_image' as const,
        image_url: `data:${part.mime};base64,${part.data}`,
        detail: 'auto' as const,
        file_id: null,
      };
    case 'file':
      return {
        type: 'input_file' as const,
        filename: part.name,
        file_data: `data:${part.mime};base64,${part.data}`,
      };
  }
}

const linkContent = ({ kind, url, name }: Link) =>
  kind === 'image'
    ? { type: 'input_image' as const, image_url: url, detail: 'auto' as const, file_id: null }
    : { type: 'input_file' as const, file_url: url, ...(name !== undefined && { filename: name }) };

/** Null if the event is not the input of a request. */
export function inputItem(event: DurableEvent) {
  switch (event.type) {
    case 'input.accepted':
      // Without parts the model went on from what was there.
      return event.parts.length > 0 ? userMessage(messageId(event.session, event.input), event.parts) : null;
    case 'tool.ended':
      return callOutputItem(itemId('fco', { session: event.session, id: event.call }), event);
    case 'approval.answered':
      return {
        id: `mcpa_${event.approval}`,
        type: 'mcp_approval_response' as const,
        approval_request_id: event.approval as string,
        approve: event.answer !== 'deny',
        reason: event.reason ?? null,
      };
    default:
      return null;
  }
}

/** A page of a list. */
export const itemList = <Item extends { readonly id: string; readonly type: string }>(
  data: readonly Item[],
  has_more: boolean,
) => ({
  object: 'list' as const,
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more,
});

// The response

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

type Outcome = {
  readonly status: ResponseStatus;
  readonly output: readonly OutputItem[];
  readonly usage: Usage | null;
  readonly completedAt: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly reason: 'max_output_tokens' | 'content_filter' | null;
};

export const IN_PROGRESS: Outcome = {
  status: 'in_progress',
  output: [],
  usage: null,
  completedAt: null,
  error: null,
  reason: null,
};

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);

export function responseObject({ id, session, createdAt, model, terms, data }: Head, outcome: Outcome) {
  const { options = {}, instructions } = terms;
  const { status, output, usage, completedAt, error, reason } = outcome;
  return {
    id,
    object: 'response' as const,
    created_at: seconds(createdAt),
    completed_at: completedAt === null ? null : seconds(completedAt),
    status,
    background: data.background,
    error,
    incomplete_details: reason === null ? null : { reason },
    instructions: data.instructions === null ? null : (instructions ?? '').slice(0, data.instructions),
    max_output_tokens: options.maxOutputTokens ?? null,
    metadata: data.metadata,
    model,
    output,
    max_tool_calls: null,
    parallel_tool_calls: options.parallelToolCalls ?? true,
    previous_response_id: data.previous,
    conversation: data.conversation ? { id: session } : null,
    reasoning: { effort: options.reasoningEffort ?? null, summary: null },
    store: data.store,
    // Penalties, log probabilities and tiers of a request have no effect: these are the values that were used.
    frequency_penalty: 0,
    presence_penalty: 0,
    top_logprobs: 0,
    service_tier: 'default' as const,
    safety_identifier: data.safetyIdentifier ?? null,
    prompt_cache_key: data.promptCacheKey ?? null,
    temperature: options.temperature ?? 1,
    text: { format: formatObject(options.responseFormat) },
    tool_choice: choiceObject(options.toolChoice),
    tools: toolObjects(terms),
    top_p: options.topP ?? 1,
    truncation: 'disabled' as const,
    usage: usage && usageObject(usage),
  };
}
export type ResponseObject = ReturnType<typeof responseObject>;

export const usageObject = ({ inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0 }: Usage) => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens,
});

type Options = NonNullable<TurnOptions['options']>;

function formatObject(format: Options['responseFormat']) {
  if (format?.type === 'json_schema') {
    const { name = 'response', schema, strict = false } = format;
    return { type: 'json_schema' as const, name, schema, strict };
  }
  return { type: format?.type === 'json' ? ('json_object' as const) : ('text' as const) };
}

const choiceObject = (choice: Options['toolChoice']) =>
  typeof choice === 'object' ? { type: 'function' as const, name: choice.tool } : (choice ?? 'auto');

/** The agent's own tools are listed if the request asks for them beside its own. */
const toolObjects = ({ tools = [], agentTools }: TurnOptions) => [
  ...tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    name,
    description,
    parameters,
    strict: false,
  })),
  ...(agentTools === true
    ? [{ type: 'mcp' as const, server_label: SERVER_LABEL, require_approval: 'always' as const }]
    : []),
];

// A segment of a session: the events after the request of a response, until its turn waits or ends; and the ids of responses and items, by which segments are found.

/** A label with the ids of deleted responses. */
export const DELETED = '@openai.deleted';

/** The fields that do not change while the response is created. */
export type Head = {
  readonly id: string;
  readonly session: string;
  /** in milliseconds */
  readonly createdAt: number;
  readonly model: string;
  readonly terms: TurnOptions;
  readonly data: RequestData;
};

export type Segment = {
  readonly ref: SessionRef;
  readonly start: DurableEvent;
  readonly head: Head;
  readonly target: FollowTarget;
  /** the events that the request caused, in order */
  readonly requestEvents: readonly DurableEvent[];
  /** the state of the turn's calls before the request */
  readonly state: State;
};

/** The data that a request stored with an event; null for other events. */
export function requestData(event: DurableEvent): RequestData | null {
  const stored =
    event.type === 'input.accepted'
      ? event.data
      : event.type === 'tool.ended' || event.type === 'approval.answered'
        ? event.attributes
        : undefined;
  return stored === undefined ? null : (RequestData.safeParse(stored).data?.response ?? null);
}

/** Null if the caller has no such response, it was not stored (unless `isHeld`), or it was deleted. */
export async function findSegment(
  ctx: VendorContext,
  principal: Principal,
  id: string,
  isHeld = false,
): Promise<Segment | null> {
  const { engine } = ctx;
  const place = positionOf(id);
  const ref = place && (await engine.find(principal, place.session));
  if (!ref) return null;
  const [start] = await engine.events(ref, place.seq - 1, 1);
  const data = start && isAt(start, place) && requestData(start);
  if (!start || !data || !(data.store || isHeld)) return null;
  if (await engine.lookup(principal, labelKey(DELETED, id))) return null;
  return segmentAt(ctx, ref, start);
}

/** The other events of a request are searched within this many events after the first. */
const REQUEST_EVENTS = 300;

export async function segmentAt(
  ctx: VendorContext,
  ref: SessionRef,
  first: DurableEvent,
): Promise<Segment | null> {
  const { engine, models } = ctx;
  const near = await engine.events(ref, first.seq - 1, REQUEST_EVENTS);
  // Results in the same request as a message are stored before it.
  const start = near.find((event) => requestData(event) !== null);
  const data = start && requestData(start);
  if (!data) return null;
  const requestEvents = near.filter((event) => requestData(event)?.request === data.request);
  const { state, terms } = await before(ctx, ref, start);
  const { agent, model } = await engine.snapshot(ref);
  const named = start.type === 'input.accepted' ? start.agent : undefined;
  return {
    ref,
    start,
    requestEvents,
    state,
    target: followTarget(requestEvents),
    head: {
      id: responseId(start),
      session: ref.id,
      createdAt: start.at,
      model: models.answering((named ?? agent).id, model),
      terms: requestEvents.reduce(termsAfter, terms),
      data,
    },
  };
}

function termsAfter(terms: TurnOptions, event: DurableEvent): TurnOptions {
  if (event.type === 'input.accepted') return turnOptionsOf(event);
  const replaced =
    event.type === 'tool.ended' || event.type === 'approval.answered' ? event.terms : undefined;
  return replaced ?? terms;
}

const PAGE = 200;

type PriorState = { readonly state: State; readonly terms: TurnOptions };

/** The state of a turn before the event that continues it. */
async function before({ engine }: VendorContext, ref: SessionRef, start: DurableEvent): Promise<PriorState> {
  if (start.type !== 'tool.ended' && start.type !== 'approval.answered') return { state: IDLE, terms: {} };
  for await (const { events, whole } of latestEvents(engine, { ref, head: start.seq - 1 }, PAGE)) {
    const started = events.find(
      (event): event is DurableEvent<'turn.started'> =>
        event.type === 'turn.started' && event.turn === start.turn,
    );
    const input = events.findIndex(
      (event) => event.type === 'input.accepted' && event.input === started?.input,
    );
    if (input < 0 && !whole) continue;
    const own = events.slice(Math.max(input, 0)).filter((event) => isOf(event, start.turn, started?.input));
    // What blocked the turn until this request is not part of its response.
    const state = { ...own.reduce(stateAfter, IDLE), changed: null };
    return { state, terms: own.reduce(termsAfter, {}) };
  }
  return { state: IDLE, terms: {} };
}

const isOf = (event: DurableEvent, turn: string, input: string | undefined): boolean =>
  'turn' in event && event.type !== 'input.accepted'
    ? event.turn === turn
    : 'input' in event && event.input === input;

const stateAfter = (state: State, event: DurableEvent): State => projection.step(state, event)[0];

// The id of a response is derived from the session and the first event of the answer, so it is valid as long as the
// session is stored. The end of the event id distinguishes a session from a later one with the same id.

type ResponsePosition = { readonly session: string; readonly seq: number; readonly check: string };

const UUID = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;
const ID = /^resp_([0-9a-z]{1,11})_([0-9a-f]{8})_(?:([0-9a-f]{32})|s([\w-]{1,1100}))$/;

const checkOf = (id: string): string => id.replaceAll('-', '').slice(-8).padStart(8, '0').toLowerCase();

function responseId({ session, seq, id }: Pick<DurableEvent, 'session' | 'seq' | 'id'>): string {
  const name = uuidPart(session) ?? `s${Buffer.from(session).toString('base64url')}`;
  return `resp_${seq.toString(36)}_${checkOf(id)}_${name}`;
}

/** The hex digits of a session id that is a UUID. */
function uuidPart(session: string): string | null {
  const plain = session.replaceAll('-', '');
  return UUID.test(plain) && dashed(plain) === session ? plain : null;
}

const dashed = (plain: string): string => plain.replace(UUID, '$1-$2-$3-$4-$5');

/** Null if the id is not ours. */
export function positionOf(id: string): ResponsePosition | null {
  const [, seq, check, uuid, name] = ID.exec(id) ?? [];
  if (seq === undefined || check === undefined) return null;
  const session = uuid === undefined ? Buffer.from(name ?? '', 'base64url').toString() : dashed(uuid);
  return { session, seq: Number.parseInt(seq, 36), check };
}

const isAt = (event: DurableEvent, { seq, check }: ResponsePosition): boolean =>
  event.seq === seq && checkOf(event.id) === check;

export type ItemKind = 'msg' | 'rs' | 'fc' | 'fco' | 'mcp';

/** The position of an item: its kind, and its id in the core and session. */
export type ItemPosition = { readonly kind: ItemKind; readonly id: string; readonly session: string };

const ITEM = /^(msg|rs|fc|fco|mcp)_(.{1,300})_(?:([0-9a-f]{32})|x((?:[0-9a-f]{2}){1,1100}))$/s;

export function itemId(kind: ItemKind, { session, id }: Omit<ItemPosition, 'kind'>): string {
  return `${kind}_${id}_${uuidPart(session) ?? `x${Buffer.from(session).toString('hex')}`}`;
}

/** Null if the id is not ours. */
export function itemPosition(item: string): ItemPosition | null {
  const [, kind, id, uuid, name] = ITEM.exec(item) ?? [];
  if (kind === undefined || id === undefined) return null;
  const session = uuid === undefined ? Buffer.from(name ?? '', 'hex').toString() : dashed(uuid);
  return { kind: kind as ItemKind, id, session };
}
