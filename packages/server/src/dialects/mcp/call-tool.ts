/** `tools/call`. */
import { type Fault, isObject } from '@parlance/protocol';
import { reported } from '../kit/dialect.ts';
import { invalidParams, type Params, RequestId, RpcFault } from '../kit/json-rpc.ts';
import { retryText } from '../kit/retry.ts';
import type { Context } from './context.ts';
import { complete, type Request, type RequestSource } from './methods.ts';
import { CALL_CANCELLED, type CallStream, SERVER_CLOSES, type ToolCall } from './tool-call.ts';
import { toolNamed } from './tools/index.ts';
import { errorResult } from './tools/tool.ts';

/** How the call is answered. */
export type CallResponse = {
  readonly stream: CallStream | null;
  /** aborted when the client disconnects */
  readonly gone: AbortSignal;
};

export const isLongCall = ({ method, params }: Request): boolean =>
  method === 'tools/call' && toolNamed(params.name)?.isLong === true;

/** Throws a `RpcFault` if the tool does not exist. Other failures are reported in the result. */
export async function callTool(
  ctx: Context,
  from: RequestSource,
  { request, stream, gone }: CallResponse & { readonly request: Request },
): Promise<object> {
  const { params } = request;
  const tool = toolNamed(params.name);
  if (!tool) throw invalidParams(`Unknown tool: ${String(params.name).slice(0, 200)}`);
  const args = tool.input.safeParse(params.arguments ?? {});
  if (!args.success) {
    const [issue] = args.error.issues;
    return complete(
      from.peer,
      request.method,
      errorResult(`${issue?.path.join('.') || 'arguments'}: ${issue?.message}`),
    );
  }
  const until = ctx.now() + ctx.settings.toolCallWithin;
  const call = { ...from, id: request.id, stream, until, ...metaOf(params), ...retryOf(params) };
  const result = await runCancellable(ctx, { call, gone }, (one) => tool.run(ctx, one, args.data as never));
  return complete(from.peer, request.method, result);
}

type CallWithoutSignal = { readonly call: Omit<ToolCall, 'signal'>; readonly gone: AbortSignal };

/** Runs the call so that the client can cancel it. */
export async function runCancellable(
  ctx: Context,
  { call, gone }: CallWithoutSignal,
  run: (call: ToolCall) => Promise<object>,
): Promise<object> {
  const { principal, peer, id } = call;
  const abort = new AbortController();
  // Since 2026-07-28 a disconnect cancels the call.
  const leave = () =>
    abort.abort(peer.era === 'modern' && gone.reason !== SERVER_CLOSES ? CALL_CANCELLED : 'gone');
  if (gone.aborted) leave();
  gone.addEventListener('abort', leave);
  const key = { principal: principal.id, session: peer.session, request: id };
  const remove = ctx.calls.add(key, () => abort.abort(CALL_CANCELLED));
  try {
    return await run({ ...call, signal: abort.signal });
  } catch (thrown) {
    if (thrown instanceof RpcFault) throw thrown;
    const fault: Fault = reported(thrown, ctx, {});
    return errorResult(retryText(fault));
  } finally {
    remove();
    gone.removeEventListener('abort', leave);
  }
}

function metaOf({ _meta }: Params): Pick<ToolCall, 'progressToken'> {
  const token = RequestId.safeParse(isObject(_meta) ? _meta.progressToken : undefined);
  return { progressToken: token.success ? token.data : undefined };
}

function retryOf({
  requestState,
  inputResponses,
}: Params): Pick<ToolCall, 'requestState' | 'inputResponses'> {
  return {
    requestState: typeof requestState === 'string' ? requestState : undefined,
    inputResponses: isObject(inputResponses) ? inputResponses : {},
  };
}
