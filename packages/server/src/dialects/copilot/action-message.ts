/** The message of a call that the client executes. */
import { sendWritten, type ToolUse } from '@parlance/copilot';
import { type DurableEvent, isObject, type JsonObject, textOf } from '@parlance/protocol';
import type { CopilotMessage } from './message.ts';

type ActionMessage = Pick<CopilotMessage, 'content' | 'actionString' | 'actionPayload' | 'status'>;

export function actionMessage(call: ToolUse | undefined): ActionMessage {
  switch (call?.tool) {
    case 'browser_act': {
      const written = textAt(call.input, 'action');
      const sent = sendWritten(written);
      const thought = textAt(call.input, 'thought');
      return {
        content: sent?.note ? `${thought} ${sent.note}` : thought,
        actionString: sent?.text ?? written,
        ...(sent && { actionPayload: { ...sent.action } as JsonObject }),
        status: 'pending',
      };
    }
    case 'browser_ask':
      return { content: textAt(call.input, 'question') };
    case 'browser_read':
      return { content: textAt(call.input, 'reason') };
    case undefined:
      return { content: '' };
    default:
      return { content: `Waiting for ${call?.tool}.` };
  }
}

const textAt = (input: JsonObject, name: string): string => {
  const value = input[name];
  return typeof value === 'string' ? value : '';
};

/** The action with its outcome, which is reported later. */
export function withOutcome(action: CopilotMessage, event: DurableEvent<'tool.ended'>): CopilotMessage {
  if (event.outcome === 'ok') return { ...action, status: 'success' };
  const message = textOf(event.parts.slice(0, 1)) || 'The action did not succeed.';
  const code =
    isObject(event.data) && typeof event.data.code === 'string' ? event.data.code : 'ACTION_FAILED';
  return { ...action, status: 'failure', error: { message, code, action: action.actionString } };
}
