import { listHelp } from "./commands.ts";
import "../../ui/pages/styles.ts";

export function HelpPage() {
  return (
    <div class="help" tabIndex={0} role="group" aria-label="Keyboard shortcuts">
      {listHelp().map(([name, rows]) => (
        <section key={name}>
          <h3>{name}</h3>
          <dl>
            {rows.map(([keys, text]) => (
              <div key={keys}>
                <dt>{text}</dt>
                <dd>
                  <kbd>{keys}</kbd>
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
