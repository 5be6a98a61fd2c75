/** Dialog for a new or changed domain. */
import { Dialog } from '../../components/dialog.tsx';
import { useServer } from '../../state/server.ts';
import type { StoredDomain } from './agents.ts';
import { IdentityFields } from './identity-fields.tsx';
import { OutdatedNotice } from './outdated-notice.tsx';
import { withName } from './tool-choice.tsx';
import { useDraft } from './use-draft.ts';

type DomainQuestionProps = {
  /** null: a new one */
  readonly domain: StoredDomain | null;
  readonly close: () => void;
  readonly save: (domain: StoredDomain) => Promise<void>;
};

export function DomainQuestion({ domain, close, save }: DomainQuestionProps) {
  const { agents, domains } = useServer();
  const draft = useDraft<StoredDomain>({
    id: domain?.id ?? '',
    name: domain?.name ?? '',
    description: domain?.description ?? '',
    defaultAgent: domain?.defaultAgent ?? agents[0]?.id ?? '',
    agents: domain?.agents ?? [],
  });
  const { fields, change } = draft;

  const confirm = () =>
    save({
      ...fields,
      id: fields.id.trim(),
      name: fields.name.trim(),
      description: fields.description.trim(),
      agents: [...new Set([fields.defaultAgent, ...fields.agents])],
    });

  return (
    <Dialog
      title={domain ? `Edit ${domain.name}` : 'New domain'}
      confirm="Save"
      onClose={close}
      onConfirm={confirm}
    >
      <IdentityFields fields={fields} isNew={domain === null} taken={domains} onChange={change} />
      <label className="field">
        Default agent
        <select value={fields.defaultAgent} onChange={({ target }) => change({ defaultAgent: target.value })}>
          {agents.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <fieldset className="field checkboxes">
        <legend>Agents</legend>
        {agents.map(({ id, name }) => (
          <label key={id}>
            <input
              type="checkbox"
              checked={fields.agents.includes(id)}
              onChange={({ target }) => change({ agents: withName(fields.agents, id, target.checked) })}
            />{' '}
            {name}
          </label>
        ))}
      </fieldset>
      <OutdatedNotice draft={draft} />
    </Dialog>
  );
}
