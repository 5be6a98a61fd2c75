/** Model, agent and approval mode of a session or of a new one. */
import type { ApprovalMode } from '@parlance/protocol';
import { useId, useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { may } from '../../state/may.ts';
import { parlance, useServer } from '../../state/server.ts';
import { usePolled } from '../../state/use-polled.ts';
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
const OTHER = '\u0000other';

export function Pickers({ chosen, onChoose }: PickersProps) {
  const about = useServer();
  const [naming, setNaming] = useState(false);
  const [confirming, setConfirming] = useState(false);
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
        title="Model of this session"
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
        <option value={OTHER}>Other model …</option>
      </select>
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
      {naming && <OtherModel close={() => setNaming(false)} choose={(model) => onChoose({ model })} />}
    </div>
  );
}

/** The field completes the models that the model API lists. */
function OtherModel({ close, choose }: { close: () => void; choose: (model: string | null) => void }) {
  const { value: models } = usePolled(parlance.models);
  const list = useId();
  return (
    <Dialog
      title="Other model"
      confirm="Use"
      onClose={close}
      onConfirm={(fields) => choose(String(fields.get('model')).trim() || null)}
    >
      <label className="field">
        Model name
        <input name="model" list={list} required maxLength={200} autoComplete="off" spellCheck={false} />
      </label>
      <datalist id={list}>
        {models?.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <p className="hint">The server needs a key for the model’s provider.</p>
    </Dialog>
  );
}
