/** In: converts the body of a request to a `ChatRequest`. */
import type { CallId, DurableEvent, JsonObject, Part, Principal, TurnOptions } from '@parlance/protocol';
import { type ChatRequest, callerTool, invalid, RequestFault } from '../../kit/chat-request.ts';
import type { AuthenticatedRequest, VendorContext } from '../../kit/vendor-requests.ts';
import type { InputItem, KnownItem, RequestData, ResponseRequest } from '../contract.ts';
import { inputConversation, type ResponseInput, turnOptions } from '../input.ts';
import { ResponseFollower } from './follower.ts';
import {
  callOutputItem,
  findSegment,
  functionCallItem,
  type ItemPosition,
  itemPosition,
  mcpCallItem,
  messageItem,
  requestData,
  SERVER_LABEL,
  type Segment,
  userMessage,
} from './objects.ts';

/** The caller of a request, over HTTP or a socket. */
export type Incoming = Omit<AuthenticatedRequest, 'request'> & {
  readonly headers: Pick<Headers, 'get'>;
  /** Whether the connection holds a response that is not stored, so that it can be continued. */
  readonly holds?: (response: string) => boolean;
};

export async function chatRequestOf(
  ctx: VendorContext,
  incoming: Incoming,
  body: ResponseRequest,
): Promise<ChatRequest> {
  const { previous_response_id: previous, conversation } = body;
  if (previous != null && conversation != null)
    throw invalid('previous_response_id', 'A request has a previous response or a conversation, not both.');
  if (body.background && body.store === false)
    throw invalid(
      'background',
      'A response in the background is stored: it cannot be combined with store: false.',
    );
  const chosen = ctx.models.choose(body.model);
  const { principal, key } = incoming;
  const input = inputConversation(await resolved(ctx, principal, body.input));
  const named = typeof conversation === 'string' ? conversation : (conversation?.id ?? incoming.session);
  return {
    dialect: 'openai',
    principal,
    key,
    terms: { ...termsOf(body, input), ...chosen.named },
    agent: chosen.agent,
    approvals: input.approvals,
    data: dataOf(ctx, body, input),
    labels: labelsOf(incoming.headers),
    field: 'input',
    ...(previous == null
      ? { session: named, items: input.items, newFrom: input.newFrom }
      : await continued(ctx, incoming, { previous, input })),
  };
}

type Continued = Pick<ChatRequest, 'session' | 'items' | 'newFrom' | 'branches' | 'untrusted' | 'lookedUp'>;

/** The last response of a session is continued in that session, an older one in a new session. */
async function continued(
  ctx: VendorContext,
  { principal, holds }: Incoming,
  { previous, input }: { readonly previous: string; readonly input: ResponseInput },
): Promise<Continued> {
  const segment = await previousSegment(ctx, { principal, previous, isHeld: holds?.(previous) ?? false });
  const { items, newFrom } = input;
  if (await isLast(ctx, segment)) return { session: segment.ref.id, items, newFrom };
  const follower = await ResponseFollower.open(ctx, segment);
  follower.stop();
  if (!follower.isOver) return { session: segment.ref.id, items, newFrom };
  const history = await ctx.engine.conversation(segment.ref, follower.endSeq);
  return {
    session: null,
    branches: true,
    items: [...history.items, ...items],
    newFrom: history.items.length + newFrom,
    // Results of this server are not untrusted as such; those of the caller are.
    untrusted: history.untrusted || items.some(({ type }) => type === 'result'),
    lookedUp: history.items.length,
  };
}

type Previous = {
  readonly principal: Principal;
  readonly previous: string;
  /** it need not be stored */
  readonly isHeld?: boolean;
};

export async function previousSegment(
  ctx: VendorContext,
  { principal, previous, isHeld = false }: Previous,
): Promise<Segment> {
  const segment = await findSegment(ctx, principal, previous, isHeld);
  if (segment) return segment;
  throw new RequestFault('invalid', `Previous response with id '${previous.slice(0, 200)}' not found.`, {
    param: 'previous_response_id',
    apiCode: 'previous_response_not_found',
  });
}

const PAGE = 200;

/** Whether no later response has started in the session. */
async function isLast({ engine }: VendorContext, { ref, start, head }: Segment): Promise<boolean> {
  for (let after = start.seq; ; ) {
    const events = await engine.events(ref, after, PAGE);
    const others = events.map(requestData).filter((data) => data && data.request !== head.data.request);
    if (others.length > 0) return false;
    const last = events.at(-1);
    if (!last || events.length < PAGE) return true;
    after = last.seq;
  }
}

export function dataOf(
  { newId }: Pick<VendorContext, 'newId'>,
  body: ResponseRequest,
  { items, newFrom }: Pick<ResponseInput, 'items' | 'newFrom'>,
): { response: RequestData } {
  const results = items.slice(newFrom).flatMap((item) => (item.type === 'result' ? [item.call] : []));
  const response: RequestData = {
    request: newId(),
    previous: body.previous_response_id ?? null,
    conversation: body.conversation != null,
    background: body.background === true,
    store: body.store !== false,
    metadata: body.metadata ?? {},
    instructions: body.instructions?.length ?? null,
    ...(results.length > 0 && { results }),
    ...(body.safety_identifier != null && { safetyIdentifier: body.safety_identifier }),
    ...(body.prompt_cache_key != null && { promptCacheKey: body.prompt_cache_key }),
  };
  return { response };
}

/** Headers with the session ids of coding terminals. */
export const CLIENT_SESSION = ['session-id', 'thread-id'] as const;

function labelsOf(headers: Incoming['headers']): ChatRequest['labels'] {
  const given = CLIENT_SESSION.flatMap((name) => {
    const value = headers.get(name);
    return value ? [[`client.${name}`, value.slice(0, 200)]] : [];
  });
  return given.length > 0 ? Object.fromEntries(given) : undefined;
}

export function termsOf(body: ResponseRequest, input: ResponseInput): TurnOptions {
  const tools = body.tools ?? [];
  const functions = tools.flatMap((tool) => ('name' in tool ? [callerTool(tool)] : []));
  const ownTools = tools.some((tool) => 'server_label' in tool && tool.server_label === SERVER_LABEL);
  const instructions = [body.instructions, input.instructions].filter(
    (words) => words != null && words !== '',
  );
  return {
    ...(functions.length > 0 && { tools: functions }),
    ...((functions.length > 0 || ownTools) && { agentTools: ownTools }),
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    options: turnOptions(body, {
      max: body.max_output_tokens,
      format: body.text?.format,
      effort: body.reasoning?.effort,
      toolChoice: choiceOf(
        body,
        functions.map(({ name }) => name),
      ),
    }),
  };
}

function choiceOf(
  { tool_choice: choice }: ResponseRequest,
  functions: readonly string[],
): NonNullable<TurnOptions['options']>['toolChoice'] {
  if (choice == null || typeof choice === 'string') return choice ?? undefined;
  const { type, name, server_label: server, mode } = choice;
  if (type === 'function' && name && functions.includes(name)) return { tool: name };
  if (type === 'mcp' && server === SERVER_LABEL) return name ? { tool: name } : 'required';
  if (type === 'allowed_tools') return mode ?? 'auto';
  throw invalid('tool_choice', `There is no tool ${name ?? type}.`);
}

// References to items of earlier responses and conversations, instead of the items themselves.

const READ_AT_ONCE = 500;

type Input = ResponseRequest['input'];
type Reference = Extract<InputItem, { type: 'item_reference' }>;

/** Replaces references in the input with their items. Throws `not_found` if the caller has no such item. */
export async function resolved(ctx: VendorContext, principal: Principal, input: Input): Promise<Input> {
  if (!Array.isArray(input) || !input.some(isReference)) return input;
  const places = new Map<string, ItemPosition>();
  for (const { id } of input.filter(isReference)) {
    const place = itemPosition(id);
    if (place) places.set(id, place);
  }
  const found = await itemsAt(ctx, principal, [...places.values()]);
  const answered = new Set(
    input.map((item) => ('approval_request_id' in item ? item.approval_request_id : '')),
  );
  return input.flatMap((item, index): InputItem[] => {
    if (!isReference(item)) return [item];
    // The answer itself is validated, so the request that it answers need not be looked up.
    if (answered.has(item.id)) return [{ type: 'mcp_approval_request', id: item.id }];
    const place = places.get(item.id);
    const stored = place && found.get(place.session)?.item(place, item.id);
    if (!stored) throw notFound(item.id, `input[${index}].id`);
    return [stored];
  });
}

const isReference = (item: InputItem): item is Reference => item.type === 'item_reference';

const notFound = (id: string, param: string): RequestFault =>
  new RequestFault(
    'not_found',
    `Item with id '${id.slice(0, 200)}' not found. Items are not kept if \`store\` is false.`,
    { param },
  );

/** The wanted items in each session of the caller. */
async function itemsAt(
  { engine }: VendorContext,
  principal: Principal,
  wanted: readonly ItemPosition[],
): Promise<Map<string, StoredItems>> {
  const found = new Map<string, StoredItems>();
  for (const [session, places] of Map.groupBy(wanted, (place) => place.session)) {
    const ref = await engine.find(principal, session);
    if (!ref) continue;
    const items = new StoredItems(new Set(places.map(({ id }) => id)));
    found.set(session, items);
    let events: DurableEvent[] = [];
    for (let after = 0; after === 0 || events.length === READ_AT_ONCE; after = events.at(-1)?.seq ?? 0) {
      events = await engine.events(ref, after, READ_AT_ONCE);
      for (const event of events) items.add(event);
    }
  }
  return found;
}

// Items of a session that a request refers to, found in its events.

type Call = {
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  result: Pick<DurableEvent<'tool.ended'>, 'outcome' | 'parts'> | null;
};

class StoredItems {
  readonly #inputs = new Map<string, readonly Part[]>();
  readonly #texts = new Map<string, string>();
  readonly #reasoning = new Set<string>();
  readonly #calls = new Map<string, Call>();
  readonly #results = new Map<string, { readonly call: CallId; readonly parts: readonly Part[] }>();
  /** inputs and turns of responses with `store: false` */
  readonly #forgotten = new Set<string>();

  constructor(private readonly wanted: ReadonlySet<string>) {}

  add(event: DurableEvent): void {
    switch (event.type) {
      case 'history.imported':
        for (const [at, item] of event.items.entries()) {
          const id = `${event.id}-${at}`;
          if (item.type === 'user') this.#inputs.set(id, item.parts);
          if (item.type === 'text') this.#texts.set(id, item.text);
          if (item.type === 'reasoning') this.#reasoning.add(id);
          if (item.type === 'call') this.#calls.set(id, { ...item, result: null });
          if (item.type === 'result') this.#results.set(id, item);
        }
        break;
      case 'input.accepted':
        if (requestData(event)?.store === false) this.#forgotten.add(event.input);
        else if (this.wanted.has(event.input)) this.#inputs.set(event.input, event.parts);
        break;
      case 'turn.started':
        if (this.#forgotten.has(event.input)) this.#forgotten.add(event.turn);
        break;
      case 'text.ended':
        if (this.#keeps(event.turn, event.block)) this.#texts.set(event.block, event.text);
        break;
      case 'reasoning.ended':
        if (this.#keeps(event.turn, event.block)) this.#reasoning.add(event.block);
        break;
      case 'call.requested':
        if (this.#keeps(event.turn, event.call))
          this.#calls.set(event.call, {
            call: event.call,
            tool: event.tool,
            input: event.input,
            result: null,
          });
        break;
      case 'approval.answered':
        this.#continued(event);
        break;
      case 'tool.ended': {
        this.#continued(event);
        const call = this.#calls.get(event.call);
        if (call) call.result = event;
        if (this.#keeps(event.turn, event.call)) this.#results.set(event.call, event);
        break;
      }
      default:
    }
  }

  /** Undefined if the item does not exist. */
  item({ kind, id }: ItemPosition, item: string): KnownItem | undefined {
    const [parts, text, call] = [this.#inputs.get(id), this.#texts.get(id), this.#calls.get(id)];
    if (kind === 'rs') return this.#reasoning.has(id) ? { type: 'reasoning' } : undefined;
    if (kind === 'msg')
      return parts
        ? userMessage(item, parts)
        : text === undefined
          ? text
          : messageItem(item, text, { status: 'completed' });
    const result = this.#results.get(id);
    if (kind === 'fco') return result && callOutputItem(item, result);
    if (!call) return undefined;
    if (kind === 'mcp') return call.result ? mcpCallItem({ id: item, ...call }, call.result) : undefined;
    return functionCallItem({ ...call, id: item }, JSON.stringify(call.input), 'completed');
  }

  #keeps(turn: string, id: string): boolean {
    return this.wanted.has(id) && !this.#forgotten.has(turn);
  }

  /** The turn continues with another request. */
  #continued(event: DurableEvent<'approval.answered' | 'tool.ended'>): void {
    const data = requestData(event);
    if (data?.store === false) this.#forgotten.add(event.turn);
    else if (data) this.#forgotten.delete(event.turn);
  }
}
