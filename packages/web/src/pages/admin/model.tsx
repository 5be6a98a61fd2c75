/** Connects a model: provider, address, key and name. */
import { type ModelQuestion, ParlanceError, type Settings } from '@parlance/sdk';
import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Notice } from '../../components/notice.tsx';
import { parlance } from '../../state/server.ts';
import { GivenNotice } from './given-notice.tsx';
import { Section } from './section.tsx';
import { type Save, useSettings } from './use-settings.ts';
import { CHOICES, type Choice, type Fields, fieldsOf, valuesOf, vendorOf } from './vendors.ts';

const KEYS = [
  'provider',
  'model',
  'openaiKey',
  'openaiBaseUrl',
  'anthropicKey',
  'anthropicBaseUrl',
  'googleKey',
  'googleBaseUrl',
];

export function ModelSection() {
  const { polled, save } = useSettings();
  return (
    <Section title="Model" whose="admins" polled={polled}>
      {(settings) => (
        <>
          <p className="hint">
            {settings.model.provider === 'offline'
              ? 'The offline demo model is in use. It needs no key, and it is not a language model.'
              : `${settings.model.model} at ${settings.model.address} is in use.`}{' '}
            Changes apply to the next message, without a restart.
          </p>
          <GivenNotice settings={settings} keys={KEYS} />
          <ModelForm key={settings.version} settings={settings} save={save} />
        </>
      )}
    </Section>
  );
}

type Tested = { readonly models: readonly string[] } | { readonly fault: string };

function ModelForm({ settings, save }: { settings: Settings; save: Save }) {
  const [fields, setFields] = useState<Fields>(() => fieldsOf(settings));
  const [tested, setTested] = useState<Tested | 'testing' | null>(null);
  const models = useId();
  const { choice } = fields;
  const change = (changed: Partial<Fields>) => {
    setFields({ ...fields, ...changed });
    if (changed.model === undefined) setTested(null);
  };

  async function test(): Promise<void> {
    const question = questionOf(fields);
    if (!question) return;
    setTested('testing');
    try {
      setTested({ models: await parlance.admin.models(question) });
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      setTested({ fault: thrown.message });
    }
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    void save(valuesOf(fields), choice === 'offline' ? 'The offline model is in use.' : 'Model connected.');
  }

  return (
    <form className="admin-form" onSubmit={submit}>
      <label className="field">
        Provider
        <select
          value={choice}
          onChange={({ target }) =>
            change({ choice: target.value as Choice, address: '', key: '', model: '' })
          }
        >
          {Object.entries(CHOICES).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {choice === 'compatible' && (
        <label className="field">
          Address
          <input
            type="url"
            required
            value={fields.address}
            placeholder="http://127.0.0.1:11434/v1"
            spellCheck={false}
            onChange={({ target }) => change({ address: target.value })}
          />
        </label>
      )}
      {choice !== 'offline' && (
        <>
          <label className="field">
            {choice === 'compatible' ? 'API key (if the server needs one)' : 'API key'}
            <input
              type="password"
              autoComplete="off"
              value={fields.key}
              placeholder={keyHint(settings, choice)}
              onChange={({ target }) => change({ key: target.value })}
            />
          </label>
          <label className="field">
            Model
            <input
              value={fields.model}
              list={models}
              required={choice === 'compatible'}
              placeholder={choice === 'compatible' ? 'Test the connection to see the models' : 'the default'}
              spellCheck={false}
              autoComplete="off"
              onChange={({ target }) => change({ model: target.value })}
            />
          </label>
          <datalist id={models}>
            {tested !== null &&
              tested !== 'testing' &&
              'models' in tested &&
              tested.models.map((name) => <option key={name} value={name} />)}
          </datalist>
          <TestResult tested={tested} choose={(model) => change({ model })} />
        </>
      )}
      <div className="admin-buttons">
        <Button type="submit" look="primary">
          Save
        </Button>
        {choice !== 'offline' && (
          <Button disabled={tested === 'testing'} onClick={() => void test()}>
            {tested === 'testing' ? 'Testing …' : 'Test connection'}
          </Button>
        )}
      </div>
    </form>
  );
}

function questionOf({ choice, address, key }: Fields): ModelQuestion | null {
  if (choice === 'offline') return null;
  return {
    provider: vendorOf(choice),
    address: choice === 'compatible' && address.trim() !== '' ? address.trim() : undefined,
    key: key.trim() === '' ? undefined : key.trim(),
  };
}

function keyHint({ secrets, given }: Settings, choice: Exclude<Choice, 'offline'>): string {
  const name = `${vendorOf(choice)}Key`;
  if (given[name] !== undefined) return `set by ${given[name]}`;
  return secrets.includes(name) ? 'stored (leave empty to keep it)' : '';
}

/** A few models can be chosen with a click; the field completes the others. */
const MOST_SHOWN = 12;

function TestResult({
  tested,
  choose,
}: {
  tested: Tested | 'testing' | null;
  choose: (model: string) => void;
}) {
  if (tested === null || tested === 'testing') return null;
  if ('fault' in tested) return <Notice look="danger">{tested.fault}</Notice>;
  const { models } = tested;
  return (
    <Notice>
      Connected. {models.length === 0 && 'The server lists no models. Enter a model name.'}
      {models.length > 0 && `${models.length} ${models.length === 1 ? 'model' : 'models'}:`}
      <span className="model-choices">
        {models.slice(0, MOST_SHOWN).map((model) => (
          <Button key={model} onClick={() => choose(model)}>
            {model}
          </Button>
        ))}
        {models.length > MOST_SHOWN && <span className="hint">more in the field above</span>}
      </span>
    </Notice>
  );
}
