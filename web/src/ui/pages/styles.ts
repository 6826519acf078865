/** The sheets of dialogs, pages and forms: they come with the first that is opened. */
import "../styles/dialog.css";
import "../styles/pages.css";
import "../styles/forms.css";
