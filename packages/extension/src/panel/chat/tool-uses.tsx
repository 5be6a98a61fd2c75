/** What agents in other clients are doing in this browser now. */
import { Chip } from '../../../../web/src/components/chip.tsx';
import { toolUses } from '../../shared/kept.ts';
import { siteName } from '../../shared/sites.ts';
import { useKept } from '../use-kept.ts';

export function ToolUses() {
  const open = (useKept(toolUses) ?? []).filter(({ state }) => state === 'asking' || state === 'running');
  if (open.length === 0) return null;
  return (
    <ul className="tool-uses" aria-label="Agents in the browser">
      {open.map(({ id, description, site, state }) => (
        <li key={id}>
          <Chip look={state === 'running' ? 'busy' : 'waiting'}>
            {state === 'running' ? 'Running' : 'Asks'}
          </Chip>
          {description}
          {site !== null && ` on ${siteName(site)}`}
        </li>
      ))}
    </ul>
  );
}
