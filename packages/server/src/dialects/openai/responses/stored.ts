/** The endpoints of stored responses. */
import type { DurableEvent, Principal } from '@parlance/protocol';
import { z } from 'zod';
import type { EventStream } from '../../../http/connection.ts';
import { RequestFault } from '../../kit/request-fault.ts';
import type { Context } from '../context.ts';
import { inputItems } from './input-items.ts';
import { type PageQuery, pageOf } from './list.ts';
import { cancelTurn, type NumberedEvent, ResponseFollower } from './response-follower.ts';
import { Restarts } from './restarts.ts';
import { DELETED, findSegment, type Segment } from './segment.ts';
import { encodeEvent, responseStream } from './stream.ts';

export type ResponseRef = { readonly principal: Principal; readonly request: Request; readonly id: string };

async function found(ctx: Context, { principal, id }: ResponseRef): Promise<Segment> {
  const segment = await findSegment(ctx, principal, id);
  if (segment) return segment;
  throw new RequestFault('not_found', `Response with id '${id.slice(0, 200)}' not found.`, {
    param: 'response_id',
  });
}

export const StreamQuery = z.object({
  stream: z.enum(['true', 'false']).optional(),
  starting_after: z.coerce.number().int().min(0).optional(),
});

export async function retrieveResponse(
  ctx: Context,
  response: ResponseRef,
  { stream, starting_after: after = -1 }: z.output<typeof StreamQuery>,
): Promise<Response> {
  const segment = await found(ctx, response);
  if (stream === 'true')
    return streamed(ctx, response.request, { segment, after, principal: response.principal });
  const follower = await ResponseFollower.open(ctx, segment);
  follower.stop();
  return Response.json(follower.response);
}

const OPEN = ': open\n\n';

type StreamRequest = Pick<ResponseRef, 'principal'> & { readonly segment: Segment; readonly after: number };

const streamed = (ctx: Context, request: Request, what: StreamRequest): Response =>
  ctx.stream(request, {
    dialect: 'openai',
    encode: (frame) => encodeEvent(frame as NumberedEvent),
    produce: producer(ctx, what),
  });

/** The past and future events after that number. A disconnect does not end the turn. */
const producer =
  (ctx: Context, { segment, after, principal }: StreamRequest) =>
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

export async function deleteResponse(ctx: Context, response: ResponseRef): Promise<Response> {
  const { ref } = await found(ctx, response);
  const { principal, id } = response;
  const command = { type: 'session.label', labels: { [DELETED]: id } } as const;
  await ctx.engine.send(ref, command, { principal, dialect: 'openai' });
  return Response.json({ id, object: 'response.deleted', deleted: true });
}

/** A response that has ended is not changed. */
export async function cancelResponse(ctx: Context, response: ResponseRef): Promise<Response> {
  const follower = await ResponseFollower.open(ctx, await found(ctx, response));
  if (!follower.isOver) {
    await cancelTurn(ctx, response.principal, follower);
    await follower.done;
  }
  return Response.json(follower.response);
}

export async function listInputItems(
  ctx: Context,
  response: ResponseRef,
  query: PageQuery,
): Promise<Response> {
  const segment = await found(ctx, response);
  const events = [...(await resultsBefore(ctx, segment)), ...segment.requestEvents];
  return Response.json(pageOf(inputItems(events), query));
}

/** Results in the same request as a message are stored in one append with it. */
async function resultsBefore({ engine }: Context, { ref, start, head }: Segment): Promise<DurableEvent[]> {
  const { results = [] } = head.data;
  if (start.type !== 'input.accepted' || results.length === 0) return [];
  const first = Math.max(0, start.seq - 1 - MAX_RESULTS);
  const events = await engine.events(ref, first, start.seq - 1 - first);
  return events.filter(
    ({ at, ...event }) => at === start.at && event.type === 'tool.ended' && results.includes(event.call),
  );
}

const MAX_RESULTS = 300;
