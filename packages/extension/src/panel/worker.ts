/** Sends messages to the background worker. */
import { toast } from '@parlance/ui/components/toast.tsx';
import type { PanelMessage, WorkerReply } from '../panel-messages.ts';

/** False if it was refused: the reason is shown. */
export async function sendToWorker(message: PanelMessage): Promise<boolean> {
  const reply: WorkerReply | undefined = await chrome.runtime.sendMessage(message).catch(() => undefined);
  if (reply?.ok) return true;
  toast(reply?.message ?? 'The extension did not answer. Close and open the panel again.');
  return false;
}
