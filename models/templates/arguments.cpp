// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/arguments.h"

#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"

namespace prosector::jinja {

std::vector<Var> bind(Arguments &arguments, std::string_view function, std::initializer_list<std::string_view> parameters,
                      std::size_t required, std::size_t implicit)
{
    std::vector<Var> bound(parameters.size());
    const std::string name(function);
    const std::size_t given = arguments.positional.size();
    if (given > parameters.size()) {
        const std::size_t most = parameters.size() + implicit, least = required + implicit;
        const std::string range = least == most ? std::to_string(most) : "from " + std::to_string(least) + " to " + std::to_string(most);
        raise(Exc::TypeError, name + "() takes " + range + " positional argument" + (most == 1 ? "" : "s") + " but "
                                  + std::to_string(given + implicit) + (given + implicit == 1 ? " was given" : " were given"));
    }
    for (std::size_t i = 0; i < given; ++i)
        bound[i] = std::move(arguments.positional[i]);
    for (Arguments::Named &named : arguments.named) {
        std::size_t i = 0;
        for (const std::string_view parameter : parameters) {
            if (parameter == named.name)
                break;
            ++i;
        }
        if (i == parameters.size())
            raise(Exc::TypeError, name + "() got an unexpected keyword argument " + pythonRepr(named.name));
        if (!bound[i].isMissing())
            raise(Exc::TypeError, name + "() got multiple values for argument " + pythonRepr(named.name));
        bound[i] = std::move(named.value);
    }
    std::vector<std::string> missing;
    std::size_t i = 0;
    for (const std::string_view parameter : parameters) {
        if (i < required && bound[i].isMissing())
            missing.push_back(pythonRepr(parameter));
        ++i;
    }
    if (!missing.empty()) {
        std::string list = missing[0];
        for (std::size_t j = 1; j < missing.size(); ++j)
            list += (j + 1 == missing.size() ? (missing.size() > 2 ? ", and " : " and ") : ", ") + missing[j];
        raise(Exc::TypeError, name + "() missing " + std::to_string(missing.size()) + " required positional argument"
                                  + (missing.size() == 1 ? "" : "s") + ": " + list);
    }
    return bound;
}

const Var &needText(const Var &value, std::string_view function)
{
    if (value.isString())
        return value;
    raise(Exc::TypeError, std::string(function) + " must be str, not " + typeName(value));
}

} // namespace prosector::jinja
