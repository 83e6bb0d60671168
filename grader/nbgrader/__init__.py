"""nbgrader's commands and pages with this grader's marks. Needs the extra `instructor`; nothing else imports it."""
