/** Dialog for a new or changed agent. */
import type { AgentSetup } from '@parlance/sdk';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { ModelPicker } from '../../components/model-picker/model-picker.tsx';
import { useServer } from '../../state/server.ts';
import type { StoredAgent } from './agents.ts';
import { IdentityFields } from './identity-fields.tsx';
import { ToolChoice, toolsIn } from './tool-choice.tsx';

/** The server takes no more. */
const MAX_STARTERS = 6;

type AgentQuestionProps = {
  /** null: a new one */
  readonly agent: StoredAgent | null;
  readonly tools: AgentSetup['tools'];
  readonly domainOf: string;
  readonly close: () => void;
  readonly save: (agent: StoredAgent, domain: string) => Promise<void>;
};

export function AgentQuestion({ agent, tools, domainOf, close, save }: AgentQuestionProps) {
  const about = useServer();
  const [model, setModel] = useState(agent?.model ?? null);

  function confirm(fields: FormData): Promise<void> {
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    const starters = text('starters')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .slice(0, MAX_STARTERS);
    return save(
      {
        ...agent,
        id: agent?.id ?? text('id'),
        name: text('name'),
        description: text('description'),
        instructions: text('instructions'),
        model: model ?? undefined,
        tools: toolsIn(fields),
        starters: starters.length === 0 ? undefined : starters,
      },
      text('domain'),
    );
  }

  return (
    <Dialog
      title={agent ? `Edit ${agent.name}` : 'New agent'}
      confirm="Save"
      onClose={close}
      onConfirm={confirm}
    >
      <IdentityFields of={agent} />
      <label className="field">
        Instructions
        <textarea
          name="instructions"
          required
          rows={6}
          maxLength={50_000}
          defaultValue={agent?.instructions}
        />
      </label>
      <label className="field">
        Domain
        <select name="domain" defaultValue={domainOf}>
          {about.domains.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <div className="field">
        Model
        <ModelPicker field value={model} fallback={about.model} onChoose={setModel} />
      </div>
      <ToolChoice chosen={agent?.tools} tools={tools} />
      <label className="field">
        Starters, one per line
        <textarea
          name="starters"
          rows={3}
          maxLength={1_000}
          defaultValue={agent?.starters?.join('\n')}
          placeholder="First messages offered in a new session"
        />
      </label>
    </Dialog>
  );
}
