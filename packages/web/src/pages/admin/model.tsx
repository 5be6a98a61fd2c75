/** Connects a model: provider, address, key and name. */
import { Notice } from '../../components/notice.tsx';
import { GivenNotice } from './given-notice.tsx';
import { ModelForm } from './model-form.tsx';
import { Section } from './section.tsx';
import { StoredKeys } from './stored-keys.tsx';
import { useSettings } from './use-settings.ts';

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
    <Section title="Model" polled={polled}>
      {(settings) => (
        <>
          <p className="hint">
            {settings.model.provider === 'offline'
              ? 'The offline demo model is in use. It needs no key, and it is not a language model.'
              : `${settings.model.model} at ${settings.model.address} is in use.`}{' '}
            Changes apply to the next message, without a restart.
          </p>
          <GivenNotice settings={settings} keys={KEYS} />
          {Object.entries(settings.keyProblems ?? {}).map(([name, problem]) => (
            <Notice variant="danger" key={name}>
              {problem}
            </Notice>
          ))}
          <ModelForm settings={settings} save={save} />
          <StoredKeys settings={settings} save={save} />
        </>
      )}
    </Section>
  );
}
