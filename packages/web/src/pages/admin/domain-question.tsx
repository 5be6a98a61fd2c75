/** Dialog for a new or changed domain. */
import { Dialog } from '../../components/dialog.tsx';
import { useServer } from '../../state/server.ts';
import type { StoredDomain } from './agents.ts';
import { IdentityFields } from './identity-fields.tsx';

type DomainQuestionProps = {
  /** null: a new one */
  readonly domain: StoredDomain | null;
  readonly close: () => void;
  readonly save: (domain: StoredDomain) => Promise<void>;
};

export function DomainQuestion({ domain, close, save }: DomainQuestionProps) {
  const { agents } = useServer();

  function confirm(fields: FormData): Promise<void> {
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    const defaultAgent = text('defaultAgent');
    const chosen = fields.getAll('agent').map(String);
    return save({
      id: domain?.id ?? text('id'),
      name: text('name'),
      description: text('description'),
      defaultAgent,
      agents: [...new Set([defaultAgent, ...chosen])],
    });
  }

  return (
    <Dialog
      title={domain ? `Edit ${domain.name}` : 'New domain'}
      confirm="Save"
      onClose={close}
      onConfirm={confirm}
    >
      <IdentityFields of={domain} />
      <label className="field">
        Default agent
        <select name="defaultAgent" defaultValue={domain?.defaultAgent}>
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
            <input type="checkbox" name="agent" value={id} defaultChecked={domain?.agents.includes(id)} />{' '}
            {name}
          </label>
        ))}
      </fieldset>
    </Dialog>
  );
}
