//! The statuses of every workspace, and when each is given.

/// Name and meaning, in the order in which planners are told of them.
pub const STATUSES: [(&str, &str); 7] = [
    (
        "success",
        "done, already so, or answered; a count of zero, a \"no\", and an \"if\" of the request that is not met are answers too",
    ),
    (
        "partly_done",
        "a part was done and the rest could not be; say which. Only where the policy lets parts be done",
    ),
    ("not_permitted", "a rule of the policy or the state of a row forbids it, or that much of it; say which"),
    ("no_match", "what the request names is not there; say what is nearest, if something is"),
    (
        "not_available",
        "no rule forbids it, but there is none of it now or not that much; say what can be had",
    ),
    (
        "invalid_request",
        "something essential is missing, contradicts itself or fits several rows; ask for just that",
    ),
    (
        "unsupported_intent",
        "nothing here can do that, or it is a remark that asks for nothing; say what can be done",
    ),
];
