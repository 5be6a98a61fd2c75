/** Dialog for a new or changed agent. */
import type { AgentSetup } from '@parlance/sdk';
import { Dialog } from '../../components/dialog.tsx';
import { ModelPicker } from '../../components/model-picker/model-picker.tsx';
import { useServer } from '../../state/server.ts';
import type { StoredAgent } from './agents.ts';
import { IdentityFields } from './identity-fields.tsx';
import { OutdatedNotice } from './outdated-notice.tsx';
import { ToolChoice } from './tool-choice.tsx';
import { useDraft } from './use-draft.ts';

/** The server takes no more. */
const MAX_STARTERS = 6;

type AgentQuestionProps = {
  /** null: a new one */
  readonly agent: StoredAgent | null;
  readonly tools: AgentSetup['tools'];
  /** those that can be chosen */
  readonly domains: readonly { readonly id: string; readonly name: string }[];
  readonly domainOf: string;
  readonly close: () => void;
  readonly save: (agent: StoredAgent, domain: string) => Promise<void>;
};

const fieldsOf = (agent: StoredAgent | null, domain: string) => ({
  id: agent?.id ?? '',
  name: agent?.name ?? '',
  description: agent?.description ?? '',
  instructions: agent?.instructions ?? '',
  domain,
  model: agent?.model ?? null,
  tools: agent?.tools ?? null,
  /** one per line */
  starters: agent?.starters?.join('\n') ?? '',
});

type Fields = ReturnType<typeof fieldsOf>;

function agentIn(fields: Fields, agent: StoredAgent | null): StoredAgent {
  const starters = fields.starters
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, MAX_STARTERS);
  return {
    ...agent,
    id: fields.id.trim(),
    name: fields.name.trim(),
    description: fields.description.trim(),
    instructions: fields.instructions.trim(),
    model: fields.model ?? undefined,
    tools: fields.tools ?? undefined,
    starters: starters.length === 0 ? undefined : starters,
  };
}

export function AgentQuestion({ agent, tools, domains, domainOf, close, save }: AgentQuestionProps) {
  const about = useServer();
  const draft = useDraft(fieldsOf(agent, domainOf));
  const { fields, change } = draft;
  return (
    <Dialog
      title={agent ? `Edit ${agent.name}` : 'New agent'}
      confirm="Save"
      onClose={close}
      onConfirm={() => save(agentIn(fields, agent), fields.domain)}
    >
      <IdentityFields fields={fields} isNew={agent === null} taken={about.agents} onChange={change} />
      <label className="field">
        Instructions
        <textarea
          required
          rows={6}
          maxLength={50_000}
          value={fields.instructions}
          onChange={({ target }) => change({ instructions: target.value })}
        />
      </label>
      <label className="field">
        Domain
        <select value={fields.domain} onChange={({ target }) => change({ domain: target.value })}>
          {domains.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <div className="field">
        Model
        <ModelPicker
          field
          value={fields.model}
          fallback={about.model}
          onChoose={(model) => change({ model })}
        />
      </div>
      <ToolChoice chosen={fields.tools} tools={tools} onChoose={(tools) => change({ tools })} />
      <label className="field">
        Starters, one per line
        <textarea
          rows={3}
          maxLength={1_000}
          value={fields.starters}
          placeholder="First messages offered in a new session"
          onChange={({ target }) => change({ starters: target.value })}
        />
      </label>
      <OutdatedNotice draft={draft} />
    </Dialog>
  );
}
