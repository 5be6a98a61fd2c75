/** Removes the stored API key of the model in use. */
import type { Json } from '@parlance/protocol';
import type { Settings } from '@parlance/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import type { Save } from './use-settings.ts';

const VENDORS: Readonly<Record<string, string>> = {
  openaiKey: 'OpenAI or compatible server',
  anthropicKey: 'Anthropic',
  googleKey: 'Google Gemini',
};

/** Without its key, a vendor cannot be used: the offline model is. A server of one's own may need none. */
function valuesWithout(name: string, { stored, given }: Settings): Record<string, Json> {
  const provider = name.replace(/Key$/, '');
  const needsKey = stored.provider === provider && stored[`${provider}BaseUrl`] === undefined;
  if (!needsKey || given[`${provider}BaseUrl`] !== undefined) return { [name]: null };
  const values = { [name]: null, provider: 'offline', model: null };
  return Object.fromEntries(Object.entries(values).filter(([key]) => given[key] === undefined));
}

function statusOf(name: string, { given, keyProblems }: Settings): string {
  if (given[name] !== undefined) return `Not in use: ${given[name]} takes precedence.`;
  return keyProblems?.[name] === undefined
    ? 'Encrypted. It can be replaced or removed, and is not shown again.'
    : 'Not in use: it was entered for another address.';
}

export function StoredKeys({ settings, save }: { settings: Settings; save: Save }) {
  const [removing, setRemoving] = useState<string | null>(null);
  if (settings.secrets.length === 0) return null;
  return (
    <>
      <h3>Stored API keys</h3>
      <ul className="admin-list" aria-label="Stored API keys">
        {settings.secrets.map((name) => (
          <li className="card" key={name}>
            <div className="admin-what">
              <strong>{VENDORS[name] ?? name}</strong>
              <p className="hint">{statusOf(name, settings)}</p>
            </div>
            <Button onClick={() => setRemoving(name)}>Remove</Button>
          </li>
        ))}
      </ul>
      {removing !== null && (
        <Dialog
          title="Remove the API key?"
          confirm="Remove"
          danger
          onClose={() => setRemoving(null)}
          onConfirm={() => void save(valuesWithout(removing, settings), 'The API key was removed.')}
        >
          <p>
            {'provider' in valuesWithout(removing, settings)
              ? 'The offline demo model is used until you connect another one.'
              : 'Requests are sent without a key.'}
          </p>
        </Dialog>
      )}
    </>
  );
}
