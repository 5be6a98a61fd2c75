/** Browser tools are offered while the extension is paired and the person has not turned them off. */
import { connection, toolsOn } from '../../shared/kept.ts';
import { CAPABILITIES, runTool } from './run.ts';
import { openToolSocket, type ToolSocket } from './socket.ts';

let open: { readonly name: string; readonly socket: ToolSocket } | null = null;
let stopping = new AbortController();
let active = 0;

export const toolsBusy = (): boolean => active > 0;

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
    async request(request, reply) {
      active++;
      changed();
      try {
        reply(await runTool(request, stopping.signal));
      } finally {
        active--;
        changed();
      }
    },
  });
  open = { name, socket };
}

/** What runs is refused; no more is accepted until the person turns the tools on again. */
export async function stopTools(): Promise<void> {
  stopping.abort(new Error('stopped'));
  stopping = new AbortController();
  if (active > 0) await toolsOn.set(false);
}
