// The flow with the go client of openapi-generator.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	accord "github.com/example/accordclient"
)

func step(name string) { fmt.Println("step", name) }

func require(isTrue bool, seen any) {
	if !isTrue {
		panic(fmt.Sprintf("%+v", seen))
	}
}

func must[Value any](value Value, err error) Value {
	var failure *accord.GenericOpenAPIError
	if errors.As(err, &failure) {
		panic(fmt.Sprintf("%v: %s", err, failure.Body()))
	}
	require(err == nil, err)
	return value
}

func main() {
	subject := os.Getenv("ACCORD_SUBJECT")
	configuration := accord.NewConfiguration()
	configuration.Servers = accord.ServerConfigurations{{URL: os.Getenv("ACCORD_URL")}}
	ctx := context.WithValue(context.Background(), accord.ContextAccessToken, os.Getenv("ACCORD_TOKEN"))
	transactions := accord.NewAPIClient(configuration).TransactionsAPI
	contextOf := func(layout string) accord.ConsentContext {
		given := accord.NewConsentContext(subject)
		given.SetLayout(layout)
		return *given
	}

	step("create")
	created, _, err := transactions.CreateTransaction(ctx).ConsentContext(contextOf("layout.001")).Execute()
	must(created, err)
	require(created.GetState() == "CREATED", created)

	step("later")
	// What a later version of an instance may send. The client is of the contract without `enum`.
	said, err := json.Marshal(created)
	require(err == nil, err)
	later := strings.Replace(string(said), "{", `{"laterMember":true,`, 1)
	later = strings.Replace(later, "CREATED", "LATER", 1)
	var read accord.Transaction
	require(json.Unmarshal([]byte(later), &read) == nil && read.GetState() == "LATER", later)

	step("form")
	form, _, err := transactions.GetForm(ctx, created.Id).Execute()
	must(form, err)
	answers := map[string][]string{}
	for _, element := range form.Elements {
		require(element.Content.Title != nil || element.Content.Label != nil, element)
		answers[element.Identifier] = []string{element.Answers[0]}
	}

	step("submit")
	submitted, _, err := transactions.SubmitAnswers(ctx, created.Id).RequestBody(answers).Execute()
	must(submitted, err)
	require(submitted.GetState() == "COMMITTED", submitted)

	step("records")
	records, _, err := transactions.ListRecords(ctx).Subject(subject).Execute()
	must(records, err)
	require((*records)["processing.001"][0].Subject == subject, records)

	step("receipt")
	receipt, _, err := transactions.GetReceipt(ctx, created.Id).Execute()
	must(receipt, err)
	require(len(receipt.Consents[0].Answer) > 0, receipt)

	step("signed")
	// Execute reads JSON alone; the response still has the body of any other media type.
	for format, start := range map[string]string{"jose": "eyJ", "pdf": "%PDF-"} {
		_, response, err := transactions.GetReceipt(ctx, created.Id).Format(format).Execute()
		require(response != nil && response.StatusCode == 200, err)
		body := must(io.ReadAll(response.Body))
		require(strings.HasPrefix(string(body), start), format)
	}

	step("event")
	var event accord.ConsentEvent
	require(json.Unmarshal([]byte(os.Getenv("ACCORD_EVENT")), &event) == nil, os.Getenv("ACCORD_EVENT"))
	require(event.Data.GetState() == "COMMITTED" && event.Data.Version > 0, event)

	step("withdraw")
	input := *accord.NewWithdrawalInput()
	withdrawal, _, err := transactions.WithdrawConsents(ctx, created.Id).WithdrawalInput(input).Execute()
	must(withdrawal, err)
	require(withdrawal.GetKind() == "WITHDRAWAL", withdrawal)

	step("problem")
	_, _, err = transactions.CreateTransaction(ctx).ConsentContext(contextOf("unknown")).Execute()
	var failure *accord.GenericOpenAPIError
	require(errors.As(err, &failure), err)
	problem, isProblem := failure.Model().(accord.Problem)
	require(isProblem && problem.Errors[0].Pointer == "/layout" && problem.GetCode() != "", failure.Model())

	step("done")
}
