/** Who answers and what runs unasked: of a session, or of one that is yet to begin. */
import type { ApprovalMode } from '@parlance/protocol';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { useServer } from '../../state/server.ts';
import { approvalModes } from './slash.ts';

export type Chosen = {
  /** null: as the server has it */
  readonly model: string | null;
  readonly approval: ApprovalMode | null;
  readonly agent: string | null;
  /** the domain's agents are offered */
  readonly domain: string;
};

type PickersProps = { readonly chosen: Chosen; readonly onChoose: (change: Partial<Chosen>) => void };

const OTHER = '\u0000other';

export function Pickers({ chosen, onChoose }: PickersProps) {
  const about = useServer();
  const [naming, setNaming] = useState(false);
  const { agents, domains } = about;
  const domain = domains.find(({ id }) => id === chosen.domain);
  const offered = agents.filter(({ id }) => !domain || domain.agents.includes(id));
  const agent = chosen.agent ?? domain?.defaultAgent ?? '';
  const known = about.models.some(({ id }) => id === chosen.model);
  const agentModel = agents.find(({ id }) => id === agent)?.model;
  return (
    <div className="pickers">
      <select
        className="picker"
        aria-label="Model"
        title="Which model answers"
        value={chosen.model ?? ''}
        onChange={({ target }) =>
          target.value === OTHER
            ? setNaming(true)
            : onChoose({ model: target.value === '' ? null : target.value })
        }
      >
        <option value="">{agentModel ?? about.model} (default)</option>
        {about.models.map(({ id, provider }) => (
          <option key={id} value={id}>
            {id === provider ? id : `${id} · ${provider}`}
          </option>
        ))}
        {chosen.model !== null && !known && <option value={chosen.model}>{chosen.model}</option>}
        <option value={OTHER}>Another model …</option>
      </select>
      <select
        className="picker"
        aria-label="Agent"
        title="Which agent answers"
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
      <select
        className="picker"
        aria-label="Approval mode"
        title="What runs without asking you"
        value={chosen.approval ?? ''}
        onChange={({ target }) =>
          onChoose({ approval: target.value === '' ? null : (target.value as ApprovalMode) })
        }
      >
        <option value="">{about.approval} (default)</option>
        {approvalModes(about).map(({ id }) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
      {naming && (
        <Dialog
          title="Another model"
          confirm="Use it"
          onClose={() => setNaming(false)}
          onConfirm={(fields) => onChoose({ model: String(fields.get('model')).trim() || null })}
        >
          <label className="field">
            Its name, as the vendor writes it
            <input name="model" required maxLength={200} autoComplete="off" spellCheck={false} />
          </label>
          <p className="hint">The server must have a key for its vendor; it says so where it has none.</p>
        </Dialog>
      )}
    </div>
  );
}
