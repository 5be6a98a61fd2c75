/** The form that connects a model. It is tested before it is saved. */
import type { Settings } from '@parlance/sdk';
import { type FormEvent, useId, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { TestResult } from './model-test-result.tsx';
import { OutdatedNotice } from './outdated-notice.tsx';
import { ProviderChoice } from './provider-choice.tsx';
import { useModelTest } from './use-model-test.ts';
import type { Save } from './use-settings.ts';
import { CHOICES, type Choice, type Chosen, choiceInUse, decidedBy, valuesOf, vendorOf } from './vendors.ts';

type ModelFormProps = { readonly settings: Settings; readonly save: Save };

export function ModelForm({ settings, save }: ModelFormProps) {
  const { fields, change, tested, test, isOutdated, reset } = useModelTest(settings);
  const [isSaving, setSaving] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const models = useId();
  const { choice } = fields;
  const { given } = settings;
  const decided = decidedBy(given, choice);
  const isTesting = tested?.state === 'testing';
  const listed = tested?.state === 'listed' ? tested.listing.models : [];

  /** On a small screen, the fields of the choice would appear below it. */
  function choose(choice: Choice): void {
    change({ choice, address: '', key: '', model: '' });
    requestAnimationFrame(() => form.current?.querySelector('.field')?.scrollIntoView({ block: 'nearest' }));
  }

  async function store(wanted: Chosen): Promise<void> {
    setSaving(true);
    const done = wanted.choice === 'offline' ? 'The offline model is in use.' : 'Model connected.';
    if (await save(valuesOf(wanted, given), done)) reset();
    setSaving(false);
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const usable = await test(true);
    if (usable) await store(usable);
  }

  return (
    <form ref={form} className="admin-form" noValidate onSubmit={(event) => void submit(event)}>
      <ProviderChoice
        offered={(Object.keys(CHOICES) as Choice[]).filter(
          (name) => name !== 'openai' || given.openaiBaseUrl === undefined,
        )}
        chosen={choice}
        inUse={choiceInUse(settings)}
        disabled={decided.choice !== undefined}
        onChoose={choose}
      />
      {choice === 'compatible' && (
        <label className="field">
          Address
          <input
            type="url"
            disabled={decided.address !== undefined}
            value={fields.address}
            placeholder={decided.address === undefined ? 'http://127.0.0.1:11434/v1' : setBy(decided.address)}
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => change({ address: target.value })}
          />
        </label>
      )}
      {choice !== null && choice !== 'offline' && (
        <>
          <label className="field">
            {choice === 'compatible' ? 'API key (if the server needs one)' : 'API key'}
            <input
              type="password"
              autoComplete="off"
              disabled={decided.key !== undefined}
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
              disabled={decided.model !== undefined}
              placeholder={choice === 'compatible' ? 'Test the connection to see the models' : 'the default'}
              spellCheck={false}
              autoComplete="off"
              onChange={({ target }) => change({ model: target.value })}
            />
          </label>
          <datalist id={models}>
            {listed.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <TestResult
            tested={tested}
            chosen={fields.model}
            choose={decided.model === undefined ? (model) => change({ model }) : undefined}
            saveAnyway={() => void store({ ...fields, choice })}
          />
        </>
      )}
      <OutdatedNotice draft={{ isOutdated: isOutdated && !isSaving, reset }} />
      {choice !== null && (
        <div className="admin-buttons">
          <Button type="submit" variant="primary" disabled={isTesting}>
            Save
          </Button>
          {choice !== 'offline' && (
            <Button disabled={isTesting} onClick={() => void test(false)}>
              {isTesting ? 'Testing …' : 'Test connection'}
            </Button>
          )}
        </div>
      )}
    </form>
  );
}

const setBy = (label: string): string => `set by ${label}`;

function keyHint({ secrets, given, keyProblems }: Settings, choice: Exclude<Choice, 'offline'>): string {
  const name = `${vendorOf(choice)}Key`;
  if (given[name] !== undefined) return setBy(given[name]);
  if (keyProblems?.[name] !== undefined) return 'stored for another address: enter it again';
  return secrets.includes(name) ? 'stored (leave empty to keep it)' : '';
}
