/** Model, agent and approval mode of a session or of a new one. */
import type { ApprovalMode } from '@parlance/protocol';
import { useState } from 'react';
import { ModelPicker } from '../components/model-picker/model-picker.tsx';
import { may } from '../state/may.ts';
import { useServer } from '../state/server.ts';
import { FullAutoDialog } from './full-auto-dialog.tsx';
import { approvalModes } from './slash.ts';

export type Chosen = {
  /** null: the server's default */
  readonly model: string | null;
  readonly approval: ApprovalMode | null;
  readonly agent: string | null;
  /** agents of this domain are offered */
  readonly domain: string;
};

type PickersProps = { readonly chosen: Chosen; readonly onChoose: (change: Partial<Chosen>) => void };

const FULL_AUTO = 'full-auto' satisfies ApprovalMode;

export function Pickers({ chosen, onChoose }: PickersProps) {
  const about = useServer();
  const [confirming, setConfirming] = useState(false);
  const { agents, domains } = about;
  const domain = domains.find(({ id }) => id === chosen.domain);
  const offered = agents.filter(({ id }) => !domain || domain.agents.includes(id));
  const agent = chosen.agent ?? domain?.defaultAgent ?? '';
  const agentModel = agents.find(({ id }) => id === agent)?.model;
  return (
    <div className="pickers">
      <ModelPicker
        value={chosen.model}
        fallback={agentModel ?? about.model}
        onChoose={(model) => onChoose({ model })}
      />
      <select
        className="picker"
        aria-label="Agent"
        title="Agent of this session"
        value={agent}
        onChange={({ target }) => onChoose({ agent: target.value })}
      >
        {!offered.some(({ id }) => id === agent) && <option value={agent}>{agent}</option>}
        {offered.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      {may(about, 'tool:approve') && (
        <select
          className="picker"
          aria-label="Approval mode"
          title="What runs without approval"
          data-risky={(chosen.approval ?? about.approval) === FULL_AUTO || undefined}
          value={chosen.approval ?? ''}
          onChange={({ target }) =>
            target.value === FULL_AUTO
              ? setConfirming(true)
              : onChoose({ approval: target.value === '' ? null : (target.value as ApprovalMode) })
          }
        >
          <option value="">{about.approval} (default)</option>
          {approvalModes(about).map(({ id }) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      )}
      {confirming && (
        <FullAutoDialog
          onClose={() => setConfirming(false)}
          onConfirm={() => onChoose({ approval: FULL_AUTO })}
        />
      )}
    </div>
  );
}
