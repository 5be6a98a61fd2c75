/**
 * Measures how full the model's context is: instructions, tools and conversation of the next request. If a vendor has counted
 * a request of the session, its count is used, plus our estimate of later changes.
 */
import type { ContextUse, DurableEvent, DurableEventBody } from '@parlance/protocol';
import { type Context, evolveContext } from '../domain/context.ts';
import { overheadTokens, promptTokens } from '../domain/prompt-tokens.ts';
import { nextRequest, type Request } from './prompt.ts';
import type { Session } from './session.ts';
import type { TurnDeps } from './turn-deps.ts';

/** Our token estimate of the request. */
export const estimateOf = (context: Context, { trim, ...request }: Request): number =>
  promptTokens({ ...request, items: trim(context.entries.map(({ item }) => item)) });

/** Tokens of the request: the vendor's count if there is one. */
export function tokensIn(context: Context, request: Request): number {
  const estimate = estimateOf(context, request);
  const { counted } = context;
  return counted ? Math.max(0, counted.tokens + estimate - counted.estimate) : estimate;
}

/** The tokens of instructions and tools in `tokens`: our estimate, scaled down if the vendor counts less. */
export function constantPart(tokens: number, context: Context, request: Request): number {
  const overhead = overheadTokens(request);
  return Math.min(overhead, (tokens * overhead) / Math.max(1, estimateOf(context, request)));
}

/** The context after these events. */
export const contextAfter = (context: Context, bodies: readonly DurableEventBody[]): Context =>
  bodies.reduce((after, body) => evolveContext(after, body as DurableEvent), context);

export const currentUse = async (session: Session, deps: TurnDeps): Promise<ContextUse> =>
  useOf(await session.context(), session, deps);

export function useOf(context: Context, session: Session, deps: TurnDeps): ContextUse {
  const request = nextRequest(session, deps);
  return {
    tokens: tokensIn(context, request),
    limit: request.provider.contextLimit,
    items: context.entries.length,
    strategy: deps.context.strategy,
  };
}

/** Reads the context for `withContextUse`. An unreadable context must not prevent the end of a turn. */
export async function readContext(session: Session, { log }: Pick<TurnDeps, 'log'>): Promise<void> {
  try {
    await session.context();
  } catch (thrown) {
    log.warn({ err: thrown, session: session.ref.id }, 'context unreadable: its use is not reported');
  }
}

type TurnEnd = DurableEventBody<'turn.failed' | 'turn.cancelled'>;

const endsTurn = (body: DurableEventBody): body is TurnEnd =>
  body.type === 'turn.failed' || body.type === 'turn.cancelled';

/** Adds the use of the context to events that end a turn early, if the session's context has been read. */
export function withContextUse(
  bodies: readonly DurableEventBody[],
  session: Session,
  deps: TurnDeps,
): readonly DurableEventBody[] {
  const context = session.loadedContext;
  if (!context) return bodies;
  return bodies.map((body, index) =>
    endsTurn(body)
      ? { ...body, context: useOf(contextAfter(context, bodies.slice(0, index)), session, deps) }
      : body,
  );
}
