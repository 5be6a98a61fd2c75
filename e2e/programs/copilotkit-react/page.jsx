/** The page of an application: CopilotKit's chat with a tool of the page, and a question for each approval. */
import { CopilotChat, CopilotKit, useFrontendTool, useInterrupt } from '@copilotkit/react-core/v2';
import { createRoot } from 'react-dom/client';
import { z } from 'zod';
import '@copilotkit/react-core/v2/styles.css';

function Chat() {
  useFrontendTool({
    name: 'weather',
    description: 'The weather of a city.',
    parameters: z.object({ city: z.string() }),
    handler: async ({ city }) => `sunny in ${city}`,
  });
  useInterrupt({
    render: ({ interrupt, resolve }) => (
      <div role="alertdialog">
        <p>{interrupt?.message}</p>
        <button type="button" onClick={() => void resolve({ approved: true })}>
          Approve
        </button>
        <button type="button" onClick={() => void resolve({ approved: false })}>
          Deny
        </button>
      </div>
    ),
  });
  return <CopilotChat />;
}

const { runtime } = document.body.dataset;
createRoot(document.getElementById('root')).render(
  <CopilotKit runtimeUrl={runtime} showDevConsole={false}>
    <Chat />
  </CopilotKit>,
);
