import { groups } from "./table.ts";

export function HelpPage() {
  return (
    <div class="help" tabIndex={0} role="group" aria-label="Keyboard shortcuts">
      {groups().map(([name, shortcuts]) => (
        <section key={name}>
          <h3>{name}</h3>
          <dl>
            {shortcuts.map((shortcut) => (
              <div key={shortcut.keys}>
                <dt>{shortcut.text}</dt>
                <dd>
                  <kbd>{shortcut.keys}</kbd>
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p class="dim">
        Ctrl+click opens links. While a program uses the mouse, hold Shift (Option on a Mac) to select text
        and open the menu. All other keys go to the program.
      </p>
    </div>
  );
}
