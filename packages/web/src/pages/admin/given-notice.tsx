import type { Settings } from '@parlance/sdk';
import { Notice } from '@parlance/ui/components/notice.tsx';

/** Names the settings that the configuration of the server decides, and why stored ones are not in use. */
export function GivenNotice({ settings, keys }: { settings: Settings; keys: readonly string[] }) {
  const labels = keys.flatMap((key) => settings.given[key] ?? []);
  return (
    <>
      {settings.problem !== null && <Notice variant="danger">{settings.problem}</Notice>}
      {labels.length > 0 && (
        <Notice>
          {labels.map((label, index) => (
            <span key={label}>
              {index > 0 && ', '}
              <code>{label}</code>
            </span>
          ))}{' '}
          {labels.length === 1 ? 'is' : 'are'} set at startup and {labels.length === 1 ? 'takes' : 'take'}{' '}
          precedence over what you enter here.
        </Notice>
      )}
    </>
  );
}
