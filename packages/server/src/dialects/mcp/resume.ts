/** Resumes an interrupted stream after `Last-Event-ID`: the turn has continued in the meantime. */
import type { Principal } from '@parlance/protocol';
import { callStream } from './call-stream.ts';
import { runCancellable } from './call-tool.ts';
import type { Context } from './context.ts';
import { refusal } from './faults.ts';
import { decodeState } from './follow-state.ts';
import { followTurn } from './follow-turn.ts';
import { peerOf } from './peer.ts';

/** Null if the request does not resume the stream of a call. */
export async function resumed(
  ctx: Context,
  principal: Principal,
  request: Request,
): Promise<Response | null> {
  const last = request.headers.get('last-event-id');
  const decoded = last ? await decodeState(ctx.engine, principal, last) : null;
  if (!decoded?.resumable) return null;
  const { followed, resumable } = decoded;
  const peer = peerOf(request.headers, {});
  const key = { principal: principal.id, session: peer.session, request: resumable.request };
  // Clients do not retry after this status.
  if (ctx.calls.isCancelled(key))
    return Response.json(refusal(405, 'The call was cancelled.'), { status: 405 });
  return callStream(ctx, request, {
    key,
    run: ({ stream, gone }) => {
      const call = {
        principal,
        peer,
        stream,
        id: resumable.request,
        progressToken: resumable.progress,
        until: Math.min(resumable.until, ctx.now() + ctx.settings.toolCallWithin),
        requestState: undefined,
        inputResponses: {},
      };
      return runCancellable(ctx, { call, gone }, (one) => followTurn(ctx, one, followed));
    },
  });
}
