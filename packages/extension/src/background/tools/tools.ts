/** Browser tools are offered while the extension is paired and the person has not turned them off. */
import { connection, toolsOn } from '../../shared/storage.ts';
import { CAPABILITIES, runTool } from './run.ts';
import { openToolSocket, type ToolSocket } from './socket.ts';

/** How long a tool that was stopped may take to answer. */
const ANSWER_MS = 2_000;

let open: { readonly name: string; readonly socket: ToolSocket } | null = null;
let stopping = new AbortController();
const executions = new Set<Promise<void>>();

export const toolsBusy = (): boolean => executions.size > 0;

/** Opens or closes the socket, as the settings say. */
export async function offerTools(changed: () => void): Promise<void> {
  const [now, on] = await Promise.all([connection.get(), toolsOn.get()]);
  const name = now.status === 'paired' && on ? `${now.url} ${now.token}` : null;
  if (open?.name === name) return;
  open?.socket.close();
  open = null;
  if (now.status !== 'paired' || name === null) return;
  const socket = openToolSocket(now, {
    capabilities: CAPABILITIES,
    request(request, reply) {
      const execution = runTool(request, stopping.signal).then(reply);
      executions.add(execution);
      changed();
      void execution.finally(() => {
        executions.delete(execution);
        changed();
      });
    },
  });
  open = { name, socket };
}

/** Refuses running calls, and accepts no more until the user turns browser tools on again. */
export async function stopTools(): Promise<void> {
  if (executions.size === 0) return;
  stopping.abort(new Error('The browser tools were stopped.'));
  stopping = new AbortController();
  // Send the refusals to the agents before closing the socket.
  const answered = Promise.allSettled([...executions]);
  await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, ANSWER_MS))]);
  await toolsOn.set(false);
}
