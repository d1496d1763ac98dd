# name: template_text
# class: language
# tries: text that templates, shells, spreadsheets, browsers and terminals would act on, in output and answer
# expected: kept as plain text everywhere
# outcome: ok
# after: log-escaped,no-host-file-content,result-not-forged
# oracle: host
evil = "${jndi:ldap://127.0.0.1:47131/x} {{constructor.constructor('return 1')()}} #{7*7} <script>alert(1)</script> \x1b]8;;http://x\x07link\x1b]8;;\x07 \x9b31m \u202e\u2066 %0a%0d \r\n"
print(evil)
answer_text, answer_json, STATUS = evil, {evil: [evil]}, evil
