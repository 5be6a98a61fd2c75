/** What agents in other clients are doing in this browser now. */
import { Chip } from '../../../../web/src/components/chip.tsx';
import { siteName } from '../../shared/sites.ts';
import { toolUses } from '../../shared/storage.ts';
import { useStored } from '../use-stored.ts';

export function ToolUses() {
  const open = (useStored(toolUses) ?? []).filter(({ state }) => state === 'asking' || state === 'running');
  if (open.length === 0) return null;
  return (
    <ul className="tool-uses" aria-label="Agents in the browser">
      {open.map(({ id, description, site, state }) => (
        <li key={id}>
          <Chip variant={state === 'running' ? 'busy' : 'waiting'}>
            {state === 'running' ? 'Running' : 'Asks'}
          </Chip>
          {description}
          {site !== null && ` on ${siteName(site)}`}
        </li>
      ))}
    </ul>
  );
}
