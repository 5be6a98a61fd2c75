/** In: converts the body of a request to a `ChatRequest`. */
import { type JsonObject, ReasoningEffort, type TurnOptions } from '@parlance/protocol';
import type { ChatRequest } from '../../kit/chat-request.ts';
import { invalid, RequestFault } from '../../kit/request-fault.ts';
import type { AuthenticatedRequest } from '../../kit/vendor-requests.ts';
import type { Context } from '../context.ts';
import { inputConversation, type ResponseInput } from './input.ts';
import { SERVER_LABEL } from './items.ts';
import { resolved } from './references.ts';
import { ResponseFollower } from './response-follower.ts';
import type { RequestData, ResponseRequest, Tool } from './schemas.ts';
import { findSegment, requestData, type Segment } from './segment.ts';

export async function chatRequestOf(
  ctx: Context,
  incoming: AuthenticatedRequest,
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
  const { agent } = ctx.models.choose(body.model);
  const { principal, key } = incoming;
  const input = inputConversation(await resolved(ctx, principal, body.input));
  const named = typeof conversation === 'string' ? conversation : (conversation?.id ?? incoming.session);
  return {
    dialect: 'openai',
    principal,
    key,
    terms: termsOf(body, input),
    agent,
    approvals: input.approvals,
    data: dataOf(ctx, body, input),
    labels: labelsOf(incoming.request),
    field: 'input',
    ...(previous == null
      ? { session: named, items: input.items, newFrom: input.newFrom }
      : await continued(ctx, incoming, { previous, input })),
  };
}

type Continued = Pick<ChatRequest, 'session' | 'items' | 'newFrom' | 'branches' | 'untrusted' | 'lookedUp'>;

/** The last response of a session is continued in that session, an older one in a new session. */
async function continued(
  ctx: Context,
  { principal }: AuthenticatedRequest,
  { previous, input }: { readonly previous: string; readonly input: ResponseInput },
): Promise<Continued> {
  const segment = await findSegment(ctx, principal, previous);
  if (!segment) throw previousNotFound(previous);
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

const previousNotFound = (id: string): RequestFault =>
  new RequestFault('invalid', `Previous response with id '${id.slice(0, 200)}' not found.`, {
    param: 'previous_response_id',
    apiCode: 'previous_response_not_found',
  });

const PAGE = 200;

/** Whether no later response has started in the session. */
async function isLast({ engine }: Context, { ref, start, head }: Segment): Promise<boolean> {
  for (let after = start.seq; ; ) {
    const events = await engine.events(ref, after, PAGE);
    const others = events.map(requestData).filter((data) => data && data.request !== head.data.request);
    if (others.length > 0) return false;
    const last = events.at(-1);
    if (!last || events.length < PAGE) return true;
    after = last.seq;
  }
}

function dataOf({ newId }: Context, body: ResponseRequest, { items, newFrom }: ResponseInput): JsonObject {
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
  };
  return { response };
}

/** Headers with the session ids of coding terminals. */
const CLIENT_SESSION = ['session-id', 'thread-id'] as const;

function labelsOf({ headers }: Request): ChatRequest['labels'] {
  const given = CLIENT_SESSION.flatMap((name) => {
    const value = headers.get(name);
    return value ? [[`client.${name}`, value.slice(0, 200)]] : [];
  });
  return given.length > 0 ? Object.fromEntries(given) : undefined;
}

function termsOf(body: ResponseRequest, input: ResponseInput): TurnOptions {
  const { functions, ownTools } = toolsOf(body.tools ?? []);
  const instructions = [body.instructions, input.instructions].filter(
    (words) => words != null && words !== '',
  );
  return {
    ...(functions.length > 0 && { tools: functions }),
    ...((functions.length > 0 || ownTools) && { agentTools: ownTools }),
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    options: optionsOf(
      body,
      functions.map(({ name }) => name),
    ),
  };
}

function toolsOf(tools: readonly Tool[]) {
  const functions = tools.flatMap((tool) =>
    'name' in tool
      ? [{ name: tool.name, description: tool.description ?? '', parameters: tool.parameters ?? {} }]
      : [],
  );
  const ownTools = tools.some((tool) => 'server_label' in tool && tool.server_label === SERVER_LABEL);
  return { functions, ownTools };
}

function optionsOf(body: ResponseRequest, functions: readonly string[]): NonNullable<TurnOptions['options']> {
  const format = body.text?.format;
  const effort = ReasoningEffort.safeParse(body.reasoning?.effort).data;
  const choice = choiceOf(body, functions);
  return {
    ...(body.temperature != null && { temperature: body.temperature }),
    ...(body.top_p != null && { topP: body.top_p }),
    ...(body.max_output_tokens != null && { maxOutputTokens: body.max_output_tokens }),
    ...(format && { responseFormat: formatOf(format) }),
    ...(effort && { reasoningEffort: effort }),
    ...(choice && { toolChoice: choice }),
    ...(body.parallel_tool_calls != null && { parallelToolCalls: body.parallel_tool_calls }),
  };
}

type Format = NonNullable<NonNullable<ResponseRequest['text']>['format']>;

function formatOf(format: Format): NonNullable<NonNullable<TurnOptions['options']>['responseFormat']> {
  if (format.type !== 'json_schema') return { type: format.type === 'text' ? 'text' : 'json' };
  const { name, schema, strict } = format;
  return { type: 'json_schema', name, schema, ...(strict != null && { strict }) };
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
