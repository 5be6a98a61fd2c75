/** The tools of an agent: all, or those that are selected. */

type ToolChoiceProps = {
  /** null: all */
  readonly chosen: readonly string[] | null;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly onChoose: (chosen: readonly string[] | null) => void;
};

export function ToolChoice({ chosen, tools, onChoose }: ToolChoiceProps) {
  // Tools of an MCP server that is not running stay selected.
  const missing = chosen?.filter((name) => !tools.some((tool) => tool.name === name)) ?? [];
  const offered = [...tools, ...missing.map((name) => ({ name, description: 'Not available now' }))];
  return (
    <>
      <label className="field">
        Tools
        <select
          value={chosen === null ? 'all' : 'some'}
          onChange={({ target }) => onChoose(target.value === 'some' ? [] : null)}
        >
          <option value="all">All tools</option>
          <option value="some">Only selected tools</option>
        </select>
      </label>
      {chosen !== null && (
        <fieldset className="field checkboxes">
          <legend>Selected tools</legend>
          {offered.map(({ name, description }) => (
            <label key={name} title={description}>
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={({ target }) => onChoose(withName(chosen, name, target.checked))}
              />{' '}
              {name}
            </label>
          ))}
        </fieldset>
      )}
    </>
  );
}

/** The names with or without this one. */
export const withName = (names: readonly string[], name: string, isIn: boolean): readonly string[] => [
  ...names.filter((other) => other !== name),
  ...(isIn ? [name] : []),
];
