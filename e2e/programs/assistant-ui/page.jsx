/** The page of an application: a chat of assistant-ui's parts, with a tool of the page, instructions, and buttons for approvals. */
import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAssistantInstructions,
  useAssistantTool,
} from '@assistant-ui/react';
import { AssistantChatTransport, useChatRuntime } from '@assistant-ui/react-ai-sdk';
import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import { createRoot } from 'react-dom/client';
import { z } from 'zod';

const parameters = z.object({ city: z.string() });
const execute = async ({ city }) => `sunny in ${city}`;

function PageTools() {
  useAssistantInstructions('Answer like a page.');
  useAssistantTool({ toolName: 'weather', description: 'The weather of a city.', parameters, execute });
  return null;
}

function Call({ toolName, approval, respondToApproval }) {
  if (!approval || approval.approved !== undefined) return <p>{toolName}</p>;
  return (
    <div role="alertdialog">
      <button type="button" onClick={() => respondToApproval({ approved: true })}>
        Approve
      </button>
      <button type="button" onClick={() => respondToApproval({ approved: false })}>
        Deny
      </button>
    </div>
  );
}

const Message = () => (
  <MessagePrimitive.Root>
    <MessagePrimitive.Parts components={{ tools: { Fallback: Call } }} />
  </MessagePrimitive.Root>
);

const transport = new AssistantChatTransport({ api: '/api/chat' });
const sendAutomaticallyWhen = (chat) =>
  lastAssistantMessageIsCompleteWithToolCalls(chat) ||
  lastAssistantMessageIsCompleteWithApprovalResponses(chat);

function Chat() {
  const runtime = useChatRuntime({ transport, sendAutomaticallyWhen });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <PageTools />
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Viewport>
          <ThreadPrimitive.Messages components={{ Message }} />
        </ThreadPrimitive.Viewport>
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

createRoot(document.getElementById('root')).render(<Chat />);
